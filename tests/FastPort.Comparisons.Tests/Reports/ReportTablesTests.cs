using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class ReportTablesTests
{
    [Fact]
    public void What_servers_are_compared_by_has_the_range_of_the_runs_beside_its_median()
    {
        Figures[] runs =
        [
            .. new[] { 1.0, 3, 2 }.Select(factor => new Figures
            {
                [Metric.RssBefore] = 10 * factor,
                [Metric.Throughput] = 1000 * factor,
                [Metric.ServerCpuPerMessage] = 0.5 * factor,
                [Metric.ClientCpuPerMessage] = 0.25 * factor,
                [Metric.RoundTripP50] = 10 * factor,
                [Metric.RoundTripP99] = 1000 * factor,
                [Metric.ServerPeakRss] = 80 * factor,
            }),
        ];
        ScenarioReport scenario = Measured.Scenario(
            "peers",
            Measured.Workload(
                "64 B", Measured.Contestant("A", runs), Measured.Contestant("B", Metric.Throughput, 5), Metric.Throughput, null)) with
        {
            // The first has its range, whatever it is; one that nobody has measured has no column.
            Columns =
            [
                Metric.RssBefore.Key, Metric.Throughput.Key, Metric.ServerCpuPerMessage.Key, Metric.ClientCpuPerMessage.Key,
                Metric.RoundTripP50.Key, Metric.RoundTripP99.Key, Metric.ServerPeakRss.Key, Metric.IdleCpuShare.Key,
            ],
        };

        ReportTable table = ReportTables.Figures(scenario);

        Assert.Equal(
            [
                "workload", "candidate", "server RSS before MB: median (min - max)", "messages/s", "server CPU us/message",
                "client CPU us/message",
                "round trip p50 us", "p99 us", "server peak RSS MB",
            ],
            table.Headers);
        Assert.Equal(
            [
                "64 B", "A", "20.0 (10.0 - 30.0)", "2,000 (1,000 - 3,000)", "1.000 (0.500 - 1.500)", "0.500 (0.250 - 0.750)",
                "20.0 (10.0 - 30.0)", "2,000.0 (1,000.0 - 3,000.0)", "160",
            ],
            table.Rows[0]);
        Assert.Equal(["64 B", "B", "-", "5 (5 - 5)", "-", "-", "-", "-", "-"], table.Rows[1]);
    }

    [Fact]
    public void Missed_targets_are_listed_and_those_of_which_the_medians_say_otherwise()
    {
        ComparisonReport report = Report();

        ReportTable table = ReportTables.MissedTargets(report);

        Assert.Equal(["scenario, workload", "ratio", "median of pairs (min - max)", "of medians", "target", "reached"], table.Headers);
        Assert.Equal(
            ["peers: w1", "messages/s, A / B", "2.00 (1.00 - 4.00)", "3.00", "at least 2.5", "no, but of medians"], table.Rows[0]);
        Assert.Equal(["at most 2.5", "yes, but not of medians"], table.Rows[1].TakeLast(2));
        Assert.Equal(["at most 1.5", "no"], table.Rows[2].TakeLast(2));
        Assert.Equal(3, table.Rows.Count);
    }

    [Fact]
    public void Ratios_are_marked_as_targets_are() =>
        Assert.Equal(
            [["at least 2.5", "no, but of medians"], ["at most 2.5", "yes, but not of medians"], ["at most 1.5", "no"], ["-", "-"]],
            ReportTables.Ratios(Report().Scenarios[1]).Rows.Select(row => row.TakeLast(2)));

    [Fact]
    public void The_verdict_counts_what_the_pairs_reached_and_what_is_disputed()
    {
        ComparisonReport report = Report();

        Assert.Equal("2 of 4 reached; of 2 the ratio of medians says otherwise", ReportTables.Verdict(report));
        Assert.Equal("1 of 1 reached", ReportTables.Verdict(report with { Scenarios = [report.Scenarios[0]] }));
        Assert.Contains(
            "\n\nTargets: 1 of 1 reached.\n\n| workload | ratio |", MarkdownReport.Create(report, report.Scenarios[0]),
            StringComparison.Ordinal);
    }

    [Fact]
    public void The_verdict_counts_the_targets_that_were_not_measured()
    {
        ComparisonReport report = Report();
        WorkloadReport lacking = report.Scenarios[0].Workloads[0] with { Ratios = [], NotMeasured = 2 };
        report = report with { Scenarios = [Measured.Scenario("idle", lacking), .. report.Scenarios] };

        Assert.Equal(
            "2 of 6 reached, 2 not measured; of 2 the ratio of medians says otherwise", ReportTables.Verdict(report));
    }

    // The pairs' median is 2, the ratio of medians 3.
    private static ComparisonReport Report()
    {
        ContestantReport a = Measured.Contestant("A", Metric.Throughput, 10, 40, 30);
        ContestantReport b = Measured.Contestant("B", Metric.Throughput, 5, 10, 30);
        Target?[] targets = [Target.AtLeast(1.5), Target.AtLeast(2.5), Target.AtMost(2.5), Target.AtMost(1.5), null];
        WorkloadReport[] workloads = [.. targets.Select((target, i) => Measured.Workload($"w{i}", a, b, Metric.Throughput, target))];
        return Measured.Report(Measured.Scenario("echo", workloads[0]), Measured.Scenario("peers", workloads[1..]));
    }
}
