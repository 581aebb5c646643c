using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>The tables of reports.</summary>
internal static class ReportTables
{
    private const string Absent = "-";

    /// <summary>Median figures of everybody; the first with the range of the runs.</summary>
    public static ReportTable Figures(ScenarioReport scenario)
    {
        Metric[] columns = [.. scenario.Columns.Select(Metric.Find).Where(metric => scenario.Workloads.Any(workload => workload.Contestants.Any(c => c.Figures.ContainsKey(metric.Key))))];
        return new ReportTable(
            ["workload", "candidate", .. columns.Select((metric, i) => i == 0 ? $"{metric.Title}: median (min - max)" : metric.Title)],
            [.. scenario.Workloads.SelectMany(workload => workload.Contestants.Select(contestant => FiguresRow(workload, contestant, columns)))]);
    }

    /// <summary>Every ratio beside its target.</summary>
    public static ReportTable Ratios(ScenarioReport scenario) => new(
        ["workload", "ratio", "median of pairs (min - max)", "of medians", "target", "reached"],
        [.. scenario.Workloads.SelectMany(workload => workload.Ratios, (workload, ratio) => RatioRow(workload, ratio))]);

    /// <summary>Every target of a report.</summary>
    public static ReportTable Targets(ComparisonReport report) => new(
        ["scenario, workload", "ratio", "median of pairs (min - max)", "target", "reached"],
        [
            .. from scenario in report.Scenarios
               from workload in scenario.Workloads
               from ratio in workload.Ratios
               where ratio.Target is not null
               select (IReadOnlyList<string>)[$"{scenario.Name}: {workload.Title}", Name(ratio), Range(ratio.Pairwise, "0.00"), ratio.Target!.ToString(), Reached(ratio)],
        ]);

    private static IReadOnlyList<string> FiguresRow(WorkloadReport workload, ContestantReport contestant, Metric[] columns) =>
        [workload.Title, contestant.Name, .. columns.Select((metric, i) => Cell(contestant, metric, withRange: i == 0))];

    private static string Cell(ContestantReport contestant, Metric metric, bool withRange) =>
        !contestant.Figures.TryGetValue(metric.Key, out Spread? spread) ? Absent
        : withRange ? Range(spread, metric.Format)
        : spread.Median.ToString(metric.Format, CultureInfo.InvariantCulture);

    private static IReadOnlyList<string> RatioRow(WorkloadReport workload, RatioReport ratio) =>
    [
        workload.Title,
        Name(ratio),
        Range(ratio.Pairwise, "0.00"),
        ratio.OfMedians.ToString("0.00", CultureInfo.InvariantCulture),
        ratio.Target?.ToString() ?? Absent,
        Reached(ratio),
    ];

    private static string Name(RatioReport ratio) => $"{ratio.Metric}, {ratio.Subject} / {ratio.Reference}";

    private static string Reached(RatioReport ratio) => ratio.Reached switch { true => "yes", false => "no", null => Absent };

    private static string Range(Spread spread, string format) =>
        $"{spread.Median.ToString(format, CultureInfo.InvariantCulture)} " +
        $"({spread.Min.ToString(format, CultureInfo.InvariantCulture)} - {spread.Max.ToString(format, CultureInfo.InvariantCulture)})";
}
