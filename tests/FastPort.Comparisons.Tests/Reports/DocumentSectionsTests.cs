using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class DocumentSectionsTests : IDisposable
{
    private const string Document = """
        # Performance

        Before <!-- not measured: echo -->.

        <!-- measured: targets -->
        old targets
        <!-- end measured: targets -->
        Between.
        <!-- measured: echo -->

        old echo

        <!-- end measured: echo -->

          | a | table | of one's own |
        <!-- measured: idle -->

        old idle

        <!-- end measured: idle -->
        After, without a line's end.
        """;

    private static readonly ScenarioReport Echo = Measured.Scenario(
        "echo",
        Measured.Workload(
            "64 B", Measured.Contestant("A", Metric.Throughput, 20), Measured.Contestant("B", Metric.Throughput, 10), Metric.Throughput,
            Target.AtLeast(1)));

    private readonly TemporaryDirectory _directory = new();

    private string FilePath => Path.Combine(_directory.Path, "performance.md");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Replaces_what_stands_between_a_scenarios_markers_and_nothing_else()
    {
        ComparisonReport report = Measured.Report(Echo);

        IReadOnlyList<string> written = Write(Document, report);

        // One scenario's run has not all targets: theirs stay.
        Assert.Equal(["echo"], written);
        string section = MarkdownReport.Create(report, Echo);
        Assert.Contains("| 64 B | messages/s, A / B | 2.00 (2.00 - 2.00) | 2.00 | at least 1.0 | yes |", section, StringComparison.Ordinal);
        Assert.Equal(Document.Replace("old echo\n", section, StringComparison.Ordinal), File.ReadAllText(FilePath));
    }

    [Fact]
    public void Writes_the_targets_where_there_is_more_than_one_scenario()
    {
        ComparisonReport report = Measured.Report(Measured.Scenario("idle"), Echo);

        IReadOnlyList<string> written = Write(Document, report);

        Assert.Equal(["idle", "echo", "targets"], written);
        string expected = Document
            .Replace("old echo\n", MarkdownReport.Create(report, Echo), StringComparison.Ordinal)
            .Replace("old idle\n", MarkdownReport.Create(report, report.Scenarios[0]), StringComparison.Ordinal)
            .Replace("\nold targets\n", $"\n\n{MarkdownReport.Targets(report)}\n", StringComparison.Ordinal);
        Assert.Equal(expected, File.ReadAllText(FilePath));
    }

    [Theory]
    [InlineData("<!-- measured: echo -->")]
    [InlineData("<!-- end measured: echo -->")]
    [InlineData("<!-- measured: targets -->")]
    public void A_marker_that_is_missing_is_named_and_nothing_is_written(string marker)
    {
        string document = Document.Replace(marker, "", StringComparison.Ordinal);
        string name = marker.Contains("echo", StringComparison.Ordinal) ? "echo" : "targets";

        string message = Assert.Throws<ComparisonException>(
            () => Write(document, Measured.Report(Measured.Scenario("idle"), Echo))).Message;

        Assert.Equal(
            $"{FilePath} has no place for '{name}': write '<!-- measured: {name} -->' and '<!-- end measured: {name} -->' where it "
            + $"belongs.", message);
        Assert.Equal(document, File.ReadAllText(FilePath));
    }

    [Fact]
    public void Each_section_goes_into_the_document_that_has_its_place_and_nothing_is_written_where_none_has()
    {
        string second = Path.Combine(_directory.Path, "measurements.md");
        string place = "<!-- measured: peers -->\n\nold peers\n\n<!-- end measured: peers -->\n";
        File.WriteAllText(FilePath, Document);
        File.WriteAllText(second, place);
        ScenarioReport peers = Measured.Scenario("peers");
        ComparisonReport report = Measured.Report(Echo, peers);

        Assert.Equal(["echo", "peers", "targets"], DocumentSections.Write([FilePath, second], report));
        Assert.Contains(MarkdownReport.Create(report, Echo), File.ReadAllText(FilePath), StringComparison.Ordinal);
        string section = MarkdownReport.Create(report, peers);
        Assert.Equal(place.Replace("old peers\n", section, StringComparison.Ordinal), File.ReadAllText(second));

        string[] before = [File.ReadAllText(FilePath), File.ReadAllText(second)];
        ComparisonReport unknown = Measured.Report(Measured.Scenario("echo"), Measured.Scenario("cores"));
        string message = Assert.Throws<ComparisonException>(() => DocumentSections.Write([FilePath, second], unknown)).Message;
        Assert.StartsWith($"{FilePath} and {second} have no place for 'cores': ", message, StringComparison.Ordinal);
        Assert.Equal<string[]>(before, [File.ReadAllText(FilePath), File.ReadAllText(second)]);
    }

    [Fact]
    public void An_end_before_its_beginning_is_no_place() =>
        Assert.Throws<ComparisonException>(() => Write("<!-- end measured: echo -->\n<!-- measured: echo -->\n", Measured.Report(Echo)));

    [Fact]
    public void A_document_that_is_not_there_is_named()
    {
        string message = Assert.Throws<ComparisonException>(() => DocumentSections.Write([FilePath], Measured.Report(Echo))).Message;

        Assert.StartsWith($"The report cannot be written into {FilePath}: ", message, StringComparison.Ordinal);
    }

    private IReadOnlyList<string> Write(string document, ComparisonReport report)
    {
        File.WriteAllText(FilePath, document);
        return DocumentSections.Write([FilePath], report);
    }
}
