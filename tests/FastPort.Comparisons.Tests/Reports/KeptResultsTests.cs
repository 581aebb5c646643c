using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class KeptResultsTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private string Json => Path.Combine(_directory.Path, "full.json");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void What_was_saved_is_found_by_the_next_run()
    {
        KeptResults.Open(Options(Json), Measured.Report()).Save(Scenario());

        var next = KeptResults.Open(Options(Json), Measured.Report());

        ContestantReport? found = next.Find("ticks", "None", "A");
        Assert.Equal([10, 20], found!.Runs.Select(static run => run[Metric.Throughput.Key]));
        Assert.Null(next.Find("ticks", "None", "C"));
        Assert.Null(next.Find("ticks", "Sign", "A"));
        Assert.Null(next.Find("echo", "None", "A"));
    }

    [Fact]
    public void What_another_workload_has_measured_before_stays()
    {
        KeptResults.Open(Options(Json), Measured.Report()).Save(Scenario());
        ScenarioReport other = Scenario();
        other = other with { Workloads = [other.Workloads[0] with { Title = "Sign" }] };

        KeptResults.Open(Options(Json), Measured.Report()).Save(other);

        var next = KeptResults.Open(Options(Json), Measured.Report());
        Assert.NotNull(next.Find("ticks", "None", "A"));
        Assert.NotNull(next.Find("ticks", "Sign", "A"));
    }

    [Fact]
    public void Results_of_another_commit_or_other_settings_are_refused()
    {
        ComparisonReport report = Measured.Report();
        KeptResults.Open(Options(Json), report).Save(Scenario());

        Assert.Contains(
            "give another file",
            Assert.Throws<ComparisonException>(() => KeptResults.Open(Options(Json), report with { Commit = "another" })).Message,
            StringComparison.Ordinal);
        Assert.Throws<ComparisonException>(
            () => KeptResults.Open(Options(Json), report with { Settings = report.Settings with { Seconds = 300 } }));
    }

    [Fact]
    public void Results_of_another_machine_are_refused_and_its_load_before_the_run_does_not_matter()
    {
        ComparisonReport report = Measured.Report();
        KeptResults.Open(Options(Json), report).Save(Scenario());

        Assert.Throws<ComparisonException>(
            () => KeptResults.Open(Options(Json), report with { Machine = report.Machine with { Cpu = "Another processor" } }));
        Assert.Throws<ComparisonException>(
            () => KeptResults.Open(Options(Json), report with { Machine = report.Machine with { Peers = "libzmq 4.3.5" } }));
        var next = KeptResults.Open(Options(Json), report with { Machine = report.Machine with { LoadAverageBefore = 1.5 } });
        Assert.NotNull(next.Find("ticks", "None", "A"));
    }

    [Fact]
    public void The_full_method_needs_a_file() =>
        Assert.StartsWith(
            "--full takes hours: give --json FILE too",
            Assert.Throws<ComparisonException>(() => KeptResults.Open(Options(null), Measured.Report())).Message,
            StringComparison.Ordinal);

    [Fact]
    public void Other_runs_neither_read_nor_write_it()
    {
        var kept = KeptResults.Open(Options(Json) with { Full = false }, Measured.Report());

        kept.Save(Scenario());

        Assert.Null(kept.Find("ticks", "None", "A"));
        Assert.False(File.Exists(Json));
    }

    private static ScenarioReport Scenario() => Measured.Scenario(
        "ticks",
        Measured.Workload(
            "None", Measured.Contestant("A", Metric.Throughput, 10, 20), Measured.Contestant("B", Metric.Throughput, 10, 20),
            Metric.Throughput, null));

    private static ComparisonOptions Options(string? file) => new()
    {
        Seconds = 1,
        Repetitions = 3,
        WarmupSeconds = 1,
        LeadInSeconds = 1,
        Sizes = null,
        QueuedType = 0,
        SoakMinutes = 0,
        Quick = false,
        Full = true,
        JsonFile = file,
        MissingIsError = false,
        CommandLine = "",
    };
}
