using System.Globalization;

namespace FastPort.Comparisons.Reports;

/// <summary>The tables of a scenario.</summary>
internal static class ReportTables
{
    private static readonly Metric[] Columns =
    [
        Metric.ServerCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss,
    ];

    /// <summary>Median figures of every candidate; messages/s with the range of the runs.</summary>
    public static ReportTable Figures(ScenarioReport scenario) => new(
        ["workload", "candidate", "messages/s: median (min - max)", .. Columns.Select(metric => metric.Title)],
        [.. scenario.Workloads.SelectMany(workload => workload.Candidates, FiguresRow)]);

    /// <summary>Every ratio beside its target.</summary>
    public static ReportTable Ratios(ScenarioReport scenario) => new(
        ["workload", "ratio", "median of pairs (min - max)", "of medians", "target", "reached"],
        [.. scenario.Workloads.SelectMany(workload => workload.Ratios, RatioRow)]);

    private static IReadOnlyList<string> FiguresRow(WorkloadReport workload, CandidateReport candidate) =>
    [
        workload.Title,
        candidate.Name,
        Range(candidate.Figures[Metric.Throughput.Key], Metric.Throughput.Format),
        .. Columns.Select(metric => candidate.Figures[metric.Key].Median.ToString(metric.Format, CultureInfo.InvariantCulture)),
    ];

    private static IReadOnlyList<string> RatioRow(WorkloadReport workload, RatioReport ratio) =>
    [
        workload.Title,
        $"{ratio.Metric}, {ratio.Subject} / {ratio.Reference}",
        Range(ratio.Pairwise, "0.00"),
        ratio.OfMedians.ToString("0.00", CultureInfo.InvariantCulture),
        ratio.Target?.ToString() ?? "-",
        ratio.Reached switch { true => "yes", false => "no", null => "-" },
    ];

    private static string Range(Spread spread, string format) =>
        $"{spread.Median.ToString(format, CultureInfo.InvariantCulture)} " +
        $"({spread.Min.ToString(format, CultureInfo.InvariantCulture)} - {spread.Max.ToString(format, CultureInfo.InvariantCulture)})";
}
