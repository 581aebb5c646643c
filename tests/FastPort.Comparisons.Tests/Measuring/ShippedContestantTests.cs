using System.Text.Json;
using FastPort.Comparisons.Measuring;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

/// <summary>What is read of a result that FastPort.Client has written; the names are those of docs/load-testing.md.</summary>
public sealed class ShippedContestantTests
{
    [Fact]
    public void The_rate_is_that_of_the_messages_the_server_has_counted()
    {
        JsonElement result = ShippedClient.Read(
            """
            { "schema": 1, "mode": "sink", "messages": 30000000, "errors": 0, "messages_per_s": 15000000.5, "bytes_per_s": 960000032 }
            """);

        Figures figures = ShippedContestant.FiguresOf(result);

        Assert.Equal(15_000_000.5, figures[Metric.Throughput]);
        Assert.Equal(960.000032, figures[Metric.Megabytes]);
        Assert.Equal(2, figures.Values.Count);
    }

    [Theory]
    [InlineData("""{ "errors": 3, "messages_per_s": 1 }""", "FastPort.Client counted 3 errors")]
    [InlineData("""{ "messages_per_s": 1 }""", "FastPort.Client wrote no result that can be read: ")]
    [InlineData("Unhandled exception.", "FastPort.Client wrote no result that can be read: ")]
    public void What_is_no_result_without_errors_fails_the_run(string written, string said)
    {
        var failed = Assert.Throws<ComparisonException>(() => ShippedClient.Read(written));

        Assert.StartsWith(said, failed.Message, StringComparison.Ordinal);
    }
}
