using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Scenarios;
using Xunit;

namespace FastPort.Comparisons.Tests.Scenarios;

public sealed class OpcSpeedRowTests
{
    [Fact]
    public void Targets_are_those_of_one_client_with_sixteen_outstanding()
    {
        Assert.Equal(
            [
                ("in-process, 100 items, 1 client, 16 outstanding", Metric.Tags, 15e6),
                ("local, 100 items, 1 client, 16 outstanding", Metric.Tags, 5e6),
                ("local, 1 item, 1 client, 16 outstanding", Metric.Throughput, 100e3),
            ],
            OpcSpeedRow.All(quick: false).Where(static row => row.Target is not null)
                .Select(static row => (row.Title, row.Target!.Value.Metric, row.Target.Value.AtLeast)));
    }

    [Fact]
    public void Each_row_has_a_title_of_its_own()
    {
        string[] titles = [.. OpcSpeedRow.All(quick: false).Select(static row => row.Title)];

        Assert.Equal(titles.Length, titles.Distinct(StringComparer.Ordinal).Count());
        Assert.Contains("remote, 1 item, 4 clients, 16 outstanding", titles);
        Assert.Equal(
            [1, 10, 100],
            OpcSpeedRow.All(quick: false).Where(static row => row.Place == OpcSpeedPlace.Changes).Select(static row => row.Items / 20));
        Assert.Contains("local, changes only, 1 % of 2,000 tags change every 100 ms", titles);
    }

    [Fact]
    public void A_quick_run_goes_everywhere() => Assert.Equal(
        Enum.GetValues<OpcSpeedPlace>(), OpcSpeedRow.All(quick: true).Select(static row => row.Place));
}
