using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Commands;

public sealed class ReportCommandTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private string Json => Path.Combine(_directory.Path, "measured.json");

    private string Folder => Path.Combine(_directory.Path, "measurements");

    private string Page => Path.Combine(Folder, "echo.md");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Each_scenario_is_written_as_a_page_that_takes_the_place_of_the_last_one()
    {
        ScenarioReport[] scenarios = [Scenario("echo", 1), Scenario("peers", 2)];
        ComparisonReport report = Measured.Report(scenarios);
        await File.WriteAllTextAsync(Json, JsonReport.Create(report));
        Directory.CreateDirectory(Folder);
        await File.WriteAllTextAsync(Page, "an older run");

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", Folder]);

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        Assert.Equal(
            string.Concat(scenarios.Select(one => $"{Json}: wrote {Path.Combine(Folder, $"{one.Name}.md")}{Environment.NewLine}")),
            result.Output);
        Assert.All(
            scenarios,
            one => Assert.Equal(MarkdownReport.Create(report, one), File.ReadAllText(Path.Combine(Folder, $"{one.Name}.md"))));
        Assert.Equal(2, Directory.GetFiles(Folder).Length);
    }

    [Fact]
    public void Every_page_of_the_documentation_is_a_scenarios()
    {
        string docs = Path.Combine(ProgramLocator.Create().Root, "docs");
        string[] pages = [.. Directory.GetFiles(Path.Combine(docs, "measurements")).Select(file => Path.GetFileNameWithoutExtension(file))];

        Assert.NotEmpty(pages);
        Assert.Empty(pages.Except(ScenarioCatalog.Usual.Concat(ScenarioCatalog.Others).Select(static scenario => scenario.Name)));
    }

    [Theory]
    [InlineData(true, false, "only some of the workloads were measured")]
    [InlineData(false, true, "C: cut")]
    public async Task A_report_that_lacks_something_is_refused(bool isPartial, bool hasFailure, string why)
    {
        ScenarioReport echo = Scenario("echo", 1);
        echo = echo with { Workloads = [echo.Workloads[0] with { Failures = hasFailure ? ["C: cut"] : [] }] };
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(echo) with { IsPartial = isPartial, IsQuick = true }));

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", Folder]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains($"{Json} is not written into the documentation: {why}", result.Errors, StringComparison.Ordinal);
        Assert.False(File.Exists(Page));
    }

    [Fact]
    public async Task A_quick_report_goes_only_into_a_folder_that_is_named()
    {
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(Scenario("echo", 1)) with { IsQuick = true }));

        // The folder below the present one, if any page were written.
        ProgramResult refused = await ComparisonsProgram.RunAsync(["report", Json]);
        ProgramResult written = await ComparisonsProgram.RunAsync(["report", Json, "--into", Folder]);

        Assert.Equal((1, 0), (refused.ExitCode, written.ExitCode));
        Assert.Contains("--quick's figures mean nothing", refused.Errors, StringComparison.Ordinal);
        Assert.True(File.Exists(Page));
    }

    [Fact]
    public async Task A_page_that_cannot_be_written_is_named()
    {
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(Scenario("echo", 1))));
        await File.WriteAllTextAsync(Folder, "a file");

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", Folder]);

        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith($"The report cannot be written to {Page}: ", result.Errors, StringComparison.Ordinal);
    }

    private static ScenarioReport Scenario(string name, double factor) => Measured.Scenario(
        name,
        Measured.Workload(
            "64 B", Measured.Contestant("A", Metric.Throughput, 10 * factor), Measured.Contestant("B", Metric.Throughput, 10),
            Metric.Throughput, Target.AtLeast(2)));
}
