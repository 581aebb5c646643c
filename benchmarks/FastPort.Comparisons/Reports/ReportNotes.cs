namespace FastPort.Comparisons.Reports;

/// <summary>What a scenario's tables cannot show: what was left out and what failed.</summary>
internal static class ReportNotes
{
    public static IEnumerable<string> Of(ScenarioReport scenario) =>
        scenario.Workloads.SelectMany(Of);

    private static IEnumerable<string> Of(WorkloadReport workload)
    {
        foreach (string note in workload.Notes)
        {
            yield return $"{workload.Title}: {note}";
        }

        if (workload.Failure is not null)
        {
            yield return $"{workload.Title}: FAILED: {workload.Failure}";
        }
    }
}
