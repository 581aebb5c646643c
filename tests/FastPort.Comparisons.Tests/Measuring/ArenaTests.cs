using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

public sealed class ArenaTests
{
    private static readonly Figures Fast = new() { [Metric.Throughput] = 20 };
    private static readonly Figures Slow = new() { [Metric.Throughput] = 10 };

    private readonly List<string> _progress = [];
    private readonly List<string> _turns = [];

    [Fact]
    public async Task Runs_alternate_between_all_after_all_have_started()
    {
        WorkloadReport report = await RunAsync(false, Contestant("A", Fast, Fast), Contestant("B", Slow, Slow));

        Assert.Equal(["start A", "start B", "run A", "run B", "run B", "run A"], _turns);
        Assert.Equal(new Spread(2, 2, 2), Assert.Single(report.Ratios).Pairwise);
        Assert.Empty(report.Failures);
    }

    [Fact]
    public async Task Every_second_repetition_goes_backwards_and_a_pair_is_that_of_one_repetition()
    {
        ScriptedContestant a = new("A", Measured.Runs(Metric.Throughput, 20, 60, 20)) { Turns = _turns };
        ScriptedContestant b = new("B", Measured.Runs(Metric.Throughput, 10, 20, 10)) { Turns = _turns };
        ScriptedContestant c = new("C", Measured.Runs(Metric.Throughput, 1, 1, 1)) { Turns = _turns };
        var workload = new Workload("load", [a, b, c], [new RatioQuestion(Metric.Throughput, "A", "B")]);

        WorkloadReport report = await RunAsync(false, workload, repetitions: 3);

        Assert.Equal(
            ["run A", "run B", "run C", "run C", "run B", "run A", "run A", "run B", "run C"],
            _turns.Where(static turn => turn.StartsWith("run", StringComparison.Ordinal)));
        Assert.Equal(new Spread(2, 2, 3), Assert.Single(report.Ratios).Pairwise);
    }

    [Fact]
    public async Task Where_each_run_has_new_processes_all_start_again_before_it_in_the_order_of_the_turns()
    {
        var workload = new Workload("load", [Contestant("A", Fast, Fast), Contestant("B", Slow, Slow)], []) { HasNewProcesses = true };

        WorkloadReport report = await RunAsync(false, workload);

        Assert.Equal(["start A", "start B", "run A", "run B", "start B", "start A", "run B", "run A"], _turns);
        Assert.All(report.Contestants, static one => Assert.Equal(2, one.Runs.Count));
    }

    [Fact]
    public async Task One_with_a_run_that_failed_is_out_with_all_its_runs_and_named()
    {
        ScriptedContestant cut = Contestant("A", Fast, null);
        ScriptedContestant whole = Contestant("B", Slow, Slow);

        WorkloadReport report = await RunAsync(false, cut, whole);

        // Its first run would look like a median of as many as the other has.
        ContestantReport left = Assert.Single(report.Contestants);
        Assert.Equal(("B", 2), (left.Name, left.Runs.Count));
        Assert.Empty(report.Ratios);
        Assert.Equal(1, report.NotMeasured);
        Assert.Equal(["A: run 2 was cut"], report.Failures);
        Assert.True(cut.IsDisposed && whole.IsDisposed);
    }

    [Fact]
    public async Task One_that_is_missing_is_named_once_and_skipped_and_the_others_go_on()
    {
        WorkloadReport report = await RunAsync(
            false, Missing("A"), Missing("C"), Contestant("B", Slow, Slow));

        Assert.Equal(["skipped: libzmq.so.5 is missing"], report.Notes);
        Assert.Empty(report.Failures);
        Assert.Equal("B", Assert.Single(report.Contestants).Name);
        Assert.Equal(["start B", "run B", "run B"], _turns);
        Assert.Single(_progress, "load: skipped: libzmq.so.5 is missing");
    }

    [Fact]
    public async Task One_that_is_missing_is_a_failure_where_peers_are_required()
    {
        WorkloadReport report = await RunAsync(true, Missing("A"), Missing("C"), Contestant("B", Slow, Slow));

        Assert.Empty(report.Notes);
        Assert.Equal(["skipped: libzmq.so.5 is missing"], report.Failures);
        Assert.Equal(2, Assert.Single(report.Contestants).Runs.Count);
    }

    private Task<WorkloadReport> RunAsync(bool missingIsError, params IContestant[] contestants) => RunAsync(
        missingIsError,
        new Workload("load", contestants, [new RatioQuestion(Metric.Throughput, "A", "B", Target.AtLeast(1))]));

    private Task<WorkloadReport> RunAsync(bool missingIsError, Workload workload, int repetitions = 2)
    {
        var options = new ComparisonOptions
        {
            Seconds = 1,
            Repetitions = repetitions,
            WarmupSeconds = 1,
            LeadInSeconds = 1,
            Quick = false,
            MissingIsError = missingIsError,
            CommandLine = "",
        };
        return new Arena(options, _progress.Add).RunAsync(workload, CancellationToken.None);
    }

    private ScriptedContestant Contestant(string name, params Figures?[] runs) => new(name, runs) { Turns = _turns };

    private ScriptedContestant Missing(string name) => new(name) { Turns = _turns, Lacks = "libzmq.so.5 is missing" };
}
