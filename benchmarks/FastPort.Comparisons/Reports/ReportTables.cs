using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>The tables of reports.</summary>
internal static class ReportTables
{
    private const string Absent = "-";

    private static readonly string[] RatioHeaders = ["ratio", "median of pairs (min - max)", "of medians", "target", "reached"];

    /// <summary>Median figures of everybody; the first, and those that servers are compared by, with the range of the runs.</summary>
    public static ReportTable Figures(ScenarioReport scenario)
    {
        Metric[] columns = [
            .. scenario.Columns.Select(Metric.Find)
            .Where(metric => scenario.Workloads.Any(workload => workload.Contestants.Any(c => c.Figures.ContainsKey(metric.Key))))];
        return new ReportTable(
            ["workload", "candidate", .. columns.Select((metric, i) => i == 0 ? $"{metric.Title}: median (min - max)" : metric.Title)],
            columns.Length == 0 ? [] : [.. scenario.Workloads.SelectMany(
                workload => workload.Contestants.Select(contestant => FiguresRow(workload, contestant, columns)))]);
    }

    /// <summary>Every ratio beside its target.</summary>
    public static ReportTable Ratios(ScenarioReport scenario) => new(
        ["workload", .. RatioHeaders],
        [.. scenario.Workloads.SelectMany(workload => workload.Ratios, (workload, ratio) => RatioRow(workload.Title, ratio))]);

    /// <summary>The targets of a report that were missed, and those that were by one way of taking the ratio.</summary>
    public static ReportTable MissedTargets(ComparisonReport report) => new(
        ["scenario, workload", .. RatioHeaders],
        [
            .. from scenario in report.Scenarios
               from workload in scenario.Workloads
               from ratio in workload.Ratios
               where ratio.Target is not null && (ratio.Reached != true || ratio.IsDisputed())
               select RatioRow($"{scenario.Name}: {workload.Title}", ratio),
        ]);

    /// <summary>How many targets of a report were reached, how many not measured, and of how many that may be said otherwise.</summary>
    public static string Verdict(ComparisonReport report)
    {
        IReadOnlyList<RatioReport> targeted = report.Targeted();
        int disputed = targeted.Count(ratio => ratio.IsDisputed());
        int notMeasured = report.NotMeasured();
        string verdict = string.Create(
            CultureInfo.InvariantCulture, $"{targeted.Count(ratio => ratio.Reached == true)} of {targeted.Count + notMeasured} reached");
        verdict = notMeasured == 0 ? verdict : string.Create(CultureInfo.InvariantCulture, $"{verdict}, {notMeasured} not measured");
        return disputed == 0 ? verdict
            : string.Create(CultureInfo.InvariantCulture, $"{verdict}; of {disputed} the ratio of medians says otherwise");
    }

    private static IReadOnlyList<string> FiguresRow(WorkloadReport workload, ContestantReport contestant, Metric[] columns) =>
        [workload.Title, contestant.Name, .. columns.Select((metric, i) => Cell(contestant, metric, withRange: i == 0 || metric.HasRange))];

    private static string Cell(ContestantReport contestant, Metric metric, bool withRange) =>
        !contestant.Figures.TryGetValue(metric.Key, out Spread? spread) ? Absent
        : withRange ? Range(spread, metric.Format)
        : spread.Median.ToString(metric.Format, CultureInfo.InvariantCulture);

    private static IReadOnlyList<string> RatioRow(string title, RatioReport ratio) =>
    [
        title,
        Name(ratio),
        ratio.Pairwise is { } pairwise ? Range(pairwise, "0.00") : Absent,
        ratio.OfMedians.ToString("0.00", CultureInfo.InvariantCulture),
        ratio.Target?.ToString() ?? Absent,
        Reached(ratio),
    ];

    private static string Name(RatioReport ratio) => ratio.Reference.Length == 0
        ? $"{ratio.Metric}, {ratio.Subject}"
        : $"{ratio.Metric}, {ratio.Subject} / {ratio.Reference}";

    private static string Reached(RatioReport ratio) => (ratio.Reached, ratio.IsDisputed()) switch
    {
        (null, _) => Absent,
        (true, false) => "yes",
        (true, true) => "yes, but not of medians",
        (false, false) => "no",
        (false, true) => "no, but of medians",
    };

    private static string Range(Spread spread, string format) =>
        $"{spread.Median.ToString(format, CultureInfo.InvariantCulture)} " +
        $"({spread.Min.ToString(format, CultureInfo.InvariantCulture)} - {spread.Max.ToString(format, CultureInfo.InvariantCulture)})";
}
