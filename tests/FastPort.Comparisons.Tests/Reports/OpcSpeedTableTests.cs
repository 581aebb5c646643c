using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

/// <summary>The published columns, from the lines of clients.</summary>
public sealed class OpcSpeedTableTests
{
    private const string Line =
        """
        {"messages":200000,"seconds":2,"messages_per_s":100000,"errors":0,"p50_us":150,"p95_us":200,"p99_us":300,"max_us":900,
        "client_cpu_s":1.9,"client_peak_rss_kb":70000,"server_cpu_s":1.2,"server_cpu_us_per_message":6,"server_peak_rss_kb":70000}
        """;

    [Fact]
    public void A_read_has_its_items_and_transactions()
    {
        Assert.Equal(
            [
                "remote", "4 clients, 16 outstanding", "100", "200,000", "2.00", "95 %", "60 %",
                "10,000,000 (8,000,000 - 12,000,000)", "100,000 (80,000 - 120,000)",
            ],
            RowOf(new OpcSpeedRow(OpcSpeedPlace.Remote, 100, 16, Clients: 4), Run(80_000), Run(100_000), Run(120_000)));
    }

    [Fact]
    public void Changes_are_items_that_nobody_read()
    {
        Assert.Equal(
            [
                "local, changes only", "100 % of 2,000 tags change every 100 ms", "-", "-", "2.00", "95 %", "60 %",
                "20,000 (20,000 - 20,000)", "-",
            ],
            RowOf(new OpcSpeedRow(OpcSpeedPlace.Changes, 2000, 0), Run(20_000)));
    }

    [Fact]
    public void One_process_has_one_share_of_CPU()
    {
        Figures figures = Figures.Of(LoadResult.Read(Line) with { ServerCpuS = double.NaN });

        IReadOnlyList<string> cells = RowOf(new OpcSpeedRow(OpcSpeedPlace.InProcess, 1, 1), figures);

        Assert.Equal(["95 %", "-"], cells.Skip(5).Take(2));
    }

    [Fact]
    public void Behind_a_bridge_the_servers_share_is_the_bridges()
    {
        Figures figures = Figures.Of(LoadResult.Read(Line) with { BridgeCpuS = 0.8 });

        IReadOnlyList<string> cells = RowOf(new OpcSpeedRow(OpcSpeedPlace.Bridged, 1, 1), figures);

        Assert.Equal(["95 %", "40 %"], cells.Skip(5).Take(2));
    }

    private static Figures Run(double perSecond)
    {
        Figures figures = Figures.Of(LoadResult.Read(Line) with { MessagesPerS = perSecond });
        figures[Metric.Tags] = perSecond * 100;
        return figures;
    }

    private static IReadOnlyList<string> RowOf(OpcSpeedRow row, params Figures[] runs)
    {
        var report = new WorkloadReport
        {
            Title = row.Title,
            Contestants = [Measured.Contestant("A", runs)],
            Ratios = [],
            Notes = [],
            Failures = [],
        };
        ReportTable table = OpcSpeedTable.Of([row], [report]);
        Assert.Equal(table.Headers.Count, table.Rows[0].Count);
        return Assert.Single(table.Rows);
    }
}
