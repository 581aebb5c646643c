using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class JsonReportTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    private string FilePath => Path.Combine(_directory.Path, "measured.json");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void What_was_written_is_read_as_it_was()
    {
        ComparisonReport report = FullReport();
        string text = JsonReport.Create(report);
        File.WriteAllText(FilePath, text);

        ComparisonReport read = JsonReport.Read(FilePath);

        Assert.Equivalent(report, read, strict: true);
        Assert.Equal(text, JsonReport.Create(read));
        Assert.Equal(
            report.Scenarios.Select(one => MarkdownReport.Create(report, one)),
            read.Scenarios.Select(one => MarkdownReport.Create(read, one)));

        // Every run, not only what the tables show.
        IReadOnlyList<IReadOnlyDictionary<string, double>> runs = read.Scenarios[0].Workloads[0].Contestants[0].Runs;
        Assert.Equal([10.5, 40, 30], runs.Select(run => run[Metric.Throughput.Key]));
    }

    [Fact]
    public void A_report_of_another_schema_is_refused_by_both_numbers()
    {
        File.WriteAllText(FilePath, JsonReport.Create(FullReport() with { Schema = 1 }));

        string message = Assert.Throws<ComparisonException>(() => JsonReport.Read(FilePath)).Message;

        Assert.Equal($"{FilePath} has schema 1; this program reads {ComparisonReport.CurrentSchema}: measure again.", message);
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("{ \"schema\": 2 }")]
    public void What_is_no_report_is_refused_by_name(string text)
    {
        File.WriteAllText(FilePath, text);

        string message = Assert.Throws<ComparisonException>(() => JsonReport.Read(FilePath)).Message;

        Assert.StartsWith($"{FilePath} is not to be read as a report: ", message, StringComparison.Ordinal);
    }

    // Everything that can be in one: ratios of nothing, targets, none, failures, tables, marks that JSON or Markdown could mistake.
    private static ComparisonReport FullReport()
    {
        ContestantReport a = Measured.Contestant("A", Metric.Throughput, 10.5, 40, 30);
        ContestantReport nothing = Measured.Contestant("B, \"none\" <&> é", Metric.Throughput, 0, 0, 0);
        WorkloadReport first = Measured.Workload("64 B", a, nothing, Metric.Throughput, Target.AtLeast(1.4));
        WorkloadReport second = Measured.Workload("1 KiB", nothing, nothing, Metric.Throughput, null);
        Assert.Equal(double.PositiveInfinity, first.Ratios[0].OfMedians);
        Assert.Equal(double.NaN, second.Ratios[0].Pairwise!.Median);
        ScenarioReport peers = Measured.Scenario(
            "peers", first with { HasOneClient = true, Notes = ["skipped: libzmq"], Failures = ["C: cut"] }, second,
            Measured.Workload("8 KiB", a, a, Metric.Throughput, Target.AtMost(0.9)));
        ScenarioReport soak = Measured.Scenario("soak") with
        {
            Columns = [],
            Tables = [new ReportTable(["process", "verdict"], [["server", "flat"]])],
        };
        return Measured.Report(peers, soak) with { Notes = ["nothing is pinned"], Settings = new RunSettings(0.3, 1, 0.25, null, null) };
    }
}
