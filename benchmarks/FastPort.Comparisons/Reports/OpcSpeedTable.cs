using System.Globalization;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Reports;

/// <summary>The table of <c>opcspeed</c>, with the published columns.</summary>
internal static class OpcSpeedTable
{
    private const string Absent = "-";

    private static readonly string[] Headers =
        ["where", "how", "items per read", "reads", "seconds", "client CPU", "server CPU", "items/s", "transactions/s"];

    /// <summary>The table of rows and their reports, which are in the same order.</summary>
    public static ReportTable Of(IReadOnlyList<OpcSpeedRow> rows, IReadOnlyList<WorkloadReport> reports) =>
        new(Headers, [.. rows.Zip(reports).SelectMany(static pair => pair.Second.Contestants.Select(one => RowOf(pair.First, one)))]);

    private static IReadOnlyList<string> RowOf(OpcSpeedRow row, ContestantReport one)
    {
        // What comes unasked was not read.
        bool isRead = row.Place != OpcSpeedPlace.Changes;
        return
        [
            row.Where,
            row.How,
            isRead ? row.Items.ToString("N0", CultureInfo.InvariantCulture) : Absent,
            isRead ? Median(one, Metric.Messages) : Absent,
            Median(one, Metric.Seconds),
            Median(one, Metric.ClientCpuShare),
            Median(one, row.Place == OpcSpeedPlace.Bridged ? Metric.BridgeCpuShare : Metric.ServerCpuShare),
            Ranged(one, isRead ? Metric.Tags : Metric.Throughput),
            isRead ? Ranged(one, Metric.Throughput) : Absent,
        ];
    }

    private static string Median(ContestantReport one, Metric metric) => one.Figures.TryGetValue(metric.Key, out Spread? spread)
        ? spread.Median.ToString(metric.Format, CultureInfo.InvariantCulture)
        : Absent;

    private static string Ranged(ContestantReport one, Metric metric) => one.Figures.TryGetValue(metric.Key, out Spread? spread)
        ? string.Create(CultureInfo.InvariantCulture, $"{spread.Median:N0} ({spread.Min:N0} - {spread.Max:N0})")
        : Absent;
}
