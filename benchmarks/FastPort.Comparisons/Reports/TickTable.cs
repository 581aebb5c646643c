using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>The table of reads and writes at a fixed time, in the published form: figures of a kind share a cell.</summary>
internal static class TickTable
{
    private static readonly (string Title, Func<ContestantReport, string> Cell)[] Columns =
    [
        ("read ops/s", one => Median(one, TickMetric.ReadTags)),
        ("write ops/s", one => Median(one, TickMetric.WriteTags)),
        ("missed ticks", one => Sum(one, TickMetric.Missed)),
        ("errors", one => Sum(one, TickMetric.Errors)),
        ("read p50/p95/p99/max us", one => Slashed(
            Median(one, TickMetric.ReadP50), Median(one, TickMetric.ReadP95), Median(one, TickMetric.ReadP99),
            Max(one, TickMetric.ReadMax))),
        ("read CV", one => Median(one, TickMetric.ReadVariation)),
        ("write p50/p95/p99/max us", one => Slashed(
            Median(one, TickMetric.WriteP50), Median(one, TickMetric.WriteP95), Median(one, TickMetric.WriteP99),
            Max(one, TickMetric.WriteMax))),
        ("drift mean/p95/max us", one => Slashed(
            Median(one, TickMetric.DriftMean), Median(one, TickMetric.DriftP95), Max(one, TickMetric.DriftMax))),
        ("CPU avg/p95 %", one => Slashed(Median(one, TickMetric.CpuAverage), Median(one, TickMetric.CpuP95))),
        ("RSS max MB (growth)", one => $"{Max(one, TickMetric.RssMax)} ({Max(one, TickMetric.RssGrowth)})"),
        ("heap max MB", one => Max(one, TickMetric.HeapMax)),
        ("GC pause ms", one => Median(one, TickMetric.GcPause)),
    ];

    public static ReportTable Of(IReadOnlyList<WorkloadReport> workloads) => new(
        ["security", "candidate", .. Columns.Select(static column => column.Title)],
        [
            .. from workload in workloads
               from one in workload.Contestants
               select (IReadOnlyList<string>)[workload.Title, one.Name, .. Columns.Select(column => column.Cell(one))],
        ]);

    private static string Slashed(params string[] cells) => string.Join('/', cells);

    private static string Median(ContestantReport one, Metric metric) => Text(one, metric, static spread => spread.Median);

    private static string Max(ContestantReport one, Metric metric) => Text(one, metric, static spread => spread.Max);

    private static string Sum(ContestantReport one, Metric metric) =>
        one.Runs.Sum(run => run.GetValueOrDefault(metric.Key)).ToString(metric.Format, CultureInfo.InvariantCulture);

    private static string Text(ContestantReport one, Metric metric, Func<Spread, double> of) =>
        one.Figures.TryGetValue(metric.Key, out Spread? spread)
            ? of(spread).ToString(metric.Format, CultureInfo.InvariantCulture)
            : "-";
}
