using System.Globalization;

namespace FastPort.Comparisons.Reports;

/// <summary>What a scenario's tables cannot show: what was left out, what was disturbed, what failed.</summary>
internal static class ReportNotes
{
    /// <summary>Share of one core from which other programs' work is worth a note.</summary>
    private const double DisturbingShare = 0.1;

    public static IEnumerable<string> Of(ScenarioReport scenario) =>
        scenario.Workloads.SelectMany(Of);

    private static IEnumerable<string> Of(WorkloadReport workload)
    {
        foreach (string note in workload.Notes)
        {
            yield return $"{workload.Title}: {note}";
        }

        double disturbed = workload.Candidates.Select(candidate => candidate.Figures[Metric.OtherCpuShare.Key].Max).DefaultIfEmpty().Max();
        if (disturbed >= DisturbingShare)
        {
            yield return string.Create(
                CultureInfo.InvariantCulture,
                $"{workload.Title}: other programs took up to {disturbed:P0} of a core from server and client; repeat on a quiet machine");
        }

        if (workload.Failure is not null)
        {
            yield return $"{workload.Title}: FAILED: {workload.Failure}";
        }
    }
}
