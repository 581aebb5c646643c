using System.Globalization;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>What a scenario's tables cannot show: what was left out, what was disturbed, what failed.</summary>
internal static class ReportNotes
{
    /// <summary>Share of one core from which other programs' work is worth a note.</summary>
    private const double DisturbingShare = 0.1;

    /// <summary>What a figure's largest run may be of the smallest; beyond it its median is a matter of luck.</summary>
    private const double SuspectSpread = 3;

    private static readonly Metric[] Compared = [Metric.Throughput, Metric.RoundTripP50];

    public static IEnumerable<string> Of(ScenarioReport scenario)
    {
        // The same sentence about many workloads is said once.
        var notes = scenario.Workloads.SelectMany(workload => workload.Notes.Select(note => (workload.Title, Note: note)))
            .ToLookup(pair => pair.Note);
        foreach (IGrouping<string, (string Title, string Note)> group in notes)
        {
            yield return $"{string.Join("; ", group.Select(pair => pair.Title).Distinct(StringComparer.Ordinal))}: {group.Key}";
        }

        foreach (WorkloadReport workload in scenario.Workloads)
        {
            foreach (string note in Of(workload))
            {
                yield return note;
            }
        }
    }

    private static IEnumerable<string> Of(WorkloadReport workload)
    {
        string[] clientBound = [.. workload.ClientBound().Select(contestant => contestant.Name)];
        if (clientBound.Length > 0)
        {
            yield return $"{workload.Title}: the client had no more to give against {string.Join(", ", clientBound)}: the server's CPU "
                + $"per message decides, not the rate";
        }

        double disturbed = workload.Contestants
            .Select(contestant => contestant.Figures.TryGetValue(Metric.OtherCpuShare.Key, out Spread? other) ? other.Max : 0)
            .DefaultIfEmpty()
            .Max();
        if (disturbed >= DisturbingShare)
        {
            yield return string.Create(
                CultureInfo.InvariantCulture,
                $"{workload.Title}: other programs took up to {disturbed:P0} of a core from server and client; repeat on a quiet machine");
        }

        foreach (ContestantReport contestant in workload.Contestants)
        {
            foreach (Metric metric in Compared)
            {
                if (contestant.Figures.TryGetValue(metric.Key, out Spread? spread) && spread.Max > SuspectSpread * spread.Min)
                {
                    yield return string.Create(
                        CultureInfo.InvariantCulture,
                        $"{workload.Title}: {contestant.Name}'s largest {metric.Title} is {spread.Max / spread.Min:0.0} times the smallest")
                        + "; repeat this row";
                }
            }
        }

        foreach (string failure in workload.Failures)
        {
            yield return $"{workload.Title}: FAILED: {failure}";
        }
    }
}
