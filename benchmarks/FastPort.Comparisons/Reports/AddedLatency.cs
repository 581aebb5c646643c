using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>
/// The table of what the second contestant's round trips take longer than the first one's, from runs that followed each other.
/// </summary>
internal static class AddedLatency
{
    private static readonly Metric[] Columns = [Metric.RoundTripP50, Metric.RoundTripP99];

    public static ReportTable Of(IReadOnlyList<WorkloadReport> workloads) => new(
        ["workload", "candidate", "added p50 us: median of pairs (min - max)", "added p99 us: median of pairs (min - max)"],
        [
            .. from workload in workloads
               where workload.Contestants.Count == 2
               select (IReadOnlyList<string>)
               [
                   workload.Title, workload.Contestants[1].Name,
                   .. Columns.Select(column => Cell(workload.Contestants[0], workload.Contestants[1], column)),
               ],
        ]);

    private static string Cell(ContestantReport reference, ContestantReport subject, Metric metric)
    {
        var added = Spread.Of(subject.Runs.Zip(reference.Runs, (slower, faster) => slower[metric.Key] - faster[metric.Key]));
        return string.Create(CultureInfo.InvariantCulture, $"{added.Median:N1} ({added.Min:N1} - {added.Max:N1})");
    }
}
