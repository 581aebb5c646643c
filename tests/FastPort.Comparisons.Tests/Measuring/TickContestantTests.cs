using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

/// <summary>What is read of a tick client's line, and how the published table shows it.</summary>
public sealed class TickContestantTests
{
    private const string Line =
        """
        {"ticks":600,"missed_ticks":1,"errors":2,"first_error":"Tag 1 is wrong.","read_tags_per_s":20034.5,"write_tags_per_s":200.3,
        "read_p50_us":800,"read_p95_us":1200.4,"read_p99_us":1500,"read_max_us":3000,"read_cv":0.25,"write_p50_us":300,"write_p95_us":400,
        "write_p99_us":500,"write_max_us":600,"drift_mean_us":60.5,"drift_p95_us":90.5,"drift_max_us":200,"cpu_average":0.0123,
        "cpu_p95":0.02,"rss_max_bytes":62914560,"rss_growth_bytes":1048576,"heap_max_bytes":2097152,"gc_pause_ms":0.5}
        """;

    [Fact]
    public void The_table_has_figures_of_a_kind_in_one_cell()
    {
        Figures figures = TickContestant.FiguresOf(TickResult.Read(Line));

        ReportTable table = TickTable.Of([Workload(Measured.Contestant("A", figures, figures))]);

        Assert.Equal(
            [
                "None", "A", "20,034.50", "200.30", "2", "4", "800/1,200/1,500/3,000", "25 %", "300/400/500/600", "60.5/90.5/200.0",
                "1.23/2.00", "60.00 (1.0)", "2.00", "0.50",
            ],
            Assert.Single(table.Rows));
        Assert.Equal(table.Headers.Count, table.Rows[0].Count);
    }

    [Fact]
    public void What_was_not_measured_is_a_dash()
    {
        string line = Line.Replace("\"write_p50_us\":300", "\"write_p50_us\":null", StringComparison.Ordinal);

        ReportTable table = TickTable.Of([Workload(Measured.Contestant("A", TickContestant.FiguresOf(TickResult.Read(line))))]);

        Assert.Contains("-/400/500/600", table.Rows[0]);
    }

    [Fact]
    public void A_line_that_is_no_result_fails_the_run()
    {
        var failed = Assert.Throws<ComparisonException>(() => TickResult.Read("""{"ticks":600}"""));

        Assert.StartsWith("A client printed no result but: ", failed.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(500, true)]
    [InlineData(499, false)]
    public void A_limit_holds_in_each_run_whatever_the_median(double limit, bool reached)
    {
        ContestantReport one = Measured.Contestant("A", TickMetric.DriftP95, 100, 100, 500);

        RatioReport report = Assert.Single(RatioReport.Limit(TickMetric.DriftP95, Target.AtMost(limit), "A", [one]));

        Assert.Equal(reached, report.Reached);
        Assert.Equal(!reached, report.IsDisputed());
        Assert.Empty(RatioReport.Limit(TickMetric.DriftP95, Target.AtMost(limit), "B", [one]));
    }

    private static WorkloadReport Workload(ContestantReport one) =>
        new() { Title = "None", Contestants = [one], Ratios = [], Notes = [], Failures = [] };
}
