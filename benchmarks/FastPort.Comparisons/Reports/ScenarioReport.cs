namespace FastPort.Comparisons.Reports;

/// <summary>A scenario's results.</summary>
internal sealed record ScenarioReport
{
    public required string Name { get; init; }

    public required string Description { get; init; }

    public required IReadOnlyList<WorkloadReport> Workloads { get; init; }
}
