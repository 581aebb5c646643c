using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

public sealed class OneByOneTests
{
    private readonly List<string> _turns = [];

    [Fact]
    public async Task One_follows_the_other_and_the_first_repetition_does_not_count()
    {
        WorkloadReport report = await RunAsync(Contestant("A", 1000, 20, 40), Contestant("B", 1000, 10, 10));

        Assert.Equal(["start A", "run A", "run A", "run A", "start B", "run B", "run B", "run B"], _turns);
        Assert.All(report.Contestants, static one => Assert.Equal(2, one.Runs.Count));

        // No run of the one belongs to one of the other.
        Assert.Equal((null, 3), (Assert.Single(report.Ratios).Pairwise, report.Ratios[0].OfMedians));
    }

    [Fact]
    public async Task The_ratio_of_medians_is_held_against_a_target()
    {
        WorkloadReport report = await RunAsync(Contestant("A", 1000, 20, 40), Contestant("B", 1000, 10, 10));

        RatioReport reached = Assert.Single(
            RatioReport.Create(
                new RatioQuestion(Metric.Throughput, "A", "B", Target.AtLeast(3)),
                report.Contestants,
                hasOneClient: false,
                isPaired: false));

        Assert.Equal((true, false), (reached.Reached, reached.IsDisputed()));
        Assert.Equal(
            ["messages/s, A / B", "-", "3.00", "at least 3.0", "yes"],
            Assert.Single(ReportTables.Ratios(Measured.Scenario("ticks", report with { Ratios = [reached] })).Rows).Skip(1));
    }

    [Fact]
    public async Task One_that_fails_is_named_and_has_no_figures_and_the_others_go_on()
    {
        var cut = new ScriptedContestant("A", new Figures(), null) { Turns = _turns };

        WorkloadReport report = await RunAsync(cut, Contestant("B", 1, 2, 3));

        Assert.Equal("B", Assert.Single(report.Contestants).Name);
        Assert.Equal(["A: run 2 was cut"], report.Failures);
        Assert.True(cut.IsDisposed);
    }

    private Task<WorkloadReport> RunAsync(params IContestant[] contestants)
    {
        var options = new ComparisonOptions
        {
            Seconds = 1,
            Repetitions = 3,
            WarmupSeconds = 1,
            LeadInSeconds = 1,
            Quick = false,
            MissingIsError = false,
            CommandLine = "",
        };
        var workload = new Workload("load", contestants, [new RatioQuestion(Metric.Throughput, "A", "B")]);
        return new OneByOne(options, static _ => { }).RunAsync(workload, CancellationToken.None);
    }

    private ScriptedContestant Contestant(string name, params double[] rates) =>
        new(name, Measured.Runs(Metric.Throughput, rates)) { Turns = _turns };
}
