using System.Text.RegularExpressions;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using FastPort.Comparisons.Tests.Support;
using FastPort.Server.Tests;
using Xunit;

namespace FastPort.Comparisons.Tests.Commands;

public sealed class ReportCommandTests : IDisposable
{
    private static readonly Regex Sections = new(
        "(?<=<!-- measured: ([\\w-]+) -->).*?(?=<!-- end measured: \\1 -->)", RegexOptions.Singleline, TimeSpan.FromSeconds(10));

    private readonly TempDirectory _directory = new();

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
