using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class AddedLatencyTests
{
    [Fact]
    public void Differences_are_those_of_runs_that_followed_each_other()
    {
        ReportTable table = AddedLatency.Of([Workload(
            Measured.Contestant("A", Run(100, 200), Run(300, 400), Run(100, 200)),
            Measured.Contestant("B", Run(150, 190), Run(390, 600), Run(160.5, 300)))]);

        Assert.Equal(["load", "B", "60.5 (50.0 - 90.0)", "100.0 (-10.0 - 200.0)"], Assert.Single(table.Rows));
        Assert.Equal(table.Headers.Count, table.Rows[0].Count);
    }

    [Fact]
    public void A_workload_that_lacks_one_of_the_two_is_left_out() =>
        Assert.Empty(AddedLatency.Of([Workload(Measured.Contestant("B", Run(150, 190)))]).Rows);

    private static WorkloadReport Workload(params ContestantReport[] contestants) =>
        new() { Title = "load", Contestants = contestants, Ratios = [], Notes = [], Failures = [] };

    private static Figures Run(double p50, double p99) => new() { [Metric.RoundTripP50] = p50, [Metric.RoundTripP99] = p99 };
}
