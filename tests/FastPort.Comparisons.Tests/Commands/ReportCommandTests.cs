using System.Text.RegularExpressions;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Commands;

public sealed class ReportCommandTests : IDisposable
{
    private static readonly Regex Sections = new(
        "(?<=<!-- measured: ([\\w-]+) -->).*?(?=<!-- end measured: \\1 -->)", RegexOptions.Singleline, TimeSpan.FromSeconds(10));

    private readonly TemporaryDirectory _directory = new();

    private string Json => Path.Combine(_directory.Path, "measured.json");

    private string Document => Path.Combine(_directory.Path, "performance.md");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Every_scenario_has_its_place_in_the_documentation_and_a_second_report_changes_nothing()
    {
        string[] documents = ["performance.md", "measurements.md"];
        string root = Path.Combine(ProgramLocator.Create().Root, "docs");
        string[] published = [.. documents.Select(document => File.ReadAllText(Path.Combine(root, document)))];
        ScenarioReport[] scenarios = [
            .. ScenarioCatalog.All.Append(ScenarioCatalog.Soak).Append(ScenarioCatalog.Attack).Append(ScenarioCatalog.Pairs)
                .Append(ScenarioCatalog.ReadWrite).Append(ScenarioCatalog.Package).Append(ScenarioCatalog.Speed)
                .Append(ScenarioCatalog.Bridge).Append(ScenarioCatalog.Observed).Append(ScenarioCatalog.Hostile)
                .Append(ScenarioCatalog.Nodes)
                .Select((scenario, i) => Scenario(scenario.Name, i + 1))];
        ComparisonReport report = Measured.Report(scenarios);
        string[] copies = [.. documents.Select(document => Path.Combine(_directory.Path, document))];
        for (int i = 0; i < copies.Length; i++)
        {
            await File.WriteAllTextAsync(copies[i], published[i]);
        }

        await File.WriteAllTextAsync(Json, JsonReport.Create(report));

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", copies[0], "--into", copies[1]]);

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        string names = string.Join(", ", scenarios.Select(s => s.Name));
        Assert.Equal($"{Json}: wrote {names}, targets into {string.Join(", ", copies)}{Environment.NewLine}", result.Output);
        string[] written = [.. copies.Select(File.ReadAllText)];
        Assert.Equal(published.Select(text => Sections.Replace(text, "")), written.Select(text => Sections.Replace(text, "")));
        Dictionary<string, string> sections = written.SelectMany(text => Sections.Matches(text))
            .ToDictionary(section => section.Groups[1].Value, section => section.Value);
        Assert.Equal(scenarios.Length + 1, sections.Count);
        Assert.All(scenarios, scenario => Assert.Equal($"\n\n{MarkdownReport.Create(report, scenario)}\n", sections[scenario.Name]));
        Assert.Equal($"\n\n{MarkdownReport.Targets(report)}\n", sections[DocumentSections.Targets]);

        Assert.Equal(0, (await ComparisonsProgram.RunAsync(["report", Json, "--into", copies[0], "--into", copies[1]])).ExitCode);
        Assert.Equal(written, copies.Select(File.ReadAllText));
    }

    [Theory]
    [InlineData(true, false, "only some of the workloads were measured")]
    [InlineData(false, true, "C: cut")]
    public async Task A_report_that_lacks_something_is_refused(bool isPartial, bool hasFailure, string why)
    {
        const string Place = "<!-- measured: echo -->\n<!-- end measured: echo -->\n";
        await File.WriteAllTextAsync(Document, Place);
        ScenarioReport echo = Scenario("echo", 1);
        echo = echo with { Workloads = [echo.Workloads[0] with { Failures = hasFailure ? ["C: cut"] : [] }] };
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(echo) with { IsPartial = isPartial, IsQuick = true }));

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", Document]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains($"{Json} is not written into documents: {why}", result.Errors, StringComparison.Ordinal);
        Assert.Equal(Place, await File.ReadAllTextAsync(Document));
    }

    [Fact]
    public async Task A_quick_report_goes_only_into_documents_that_are_named()
    {
        await File.WriteAllTextAsync(Document, "<!-- measured: echo -->\n<!-- end measured: echo -->\n");
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(Scenario("echo", 1)) with { IsQuick = true }));

        // The documents of the present folder, if any were written.
        ProgramResult refused = await ComparisonsProgram.RunAsync(["report", Json]);
        ProgramResult written = await ComparisonsProgram.RunAsync(["report", Json, "--into", Document]);

        Assert.Equal((1, 0), (refused.ExitCode, written.ExitCode));
        Assert.Contains("--quick's figures mean nothing", refused.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_place_that_is_missing_is_an_error_that_names_it()
    {
        await File.WriteAllTextAsync(Document, "# Performance\n");
        await File.WriteAllTextAsync(Json, JsonReport.Create(Measured.Report(Scenario("echo", 1))));

        ProgramResult result = await ComparisonsProgram.RunAsync(["report", Json, "--into", Document]);

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("has no place for 'echo': write '<!-- measured: echo -->'", result.Errors, StringComparison.Ordinal);
        Assert.Equal("# Performance\n", await File.ReadAllTextAsync(Document));
    }

    private static ScenarioReport Scenario(string name, double factor) => Measured.Scenario(
        name,
        Measured.Workload(
            "64 B", Measured.Contestant("A", Metric.Throughput, 10 * factor), Measured.Contestant("B", Metric.Throughput, 10),
            Metric.Throughput, Target.AtLeast(2)));
}
