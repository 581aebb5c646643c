namespace FastPort.Comparisons.Reports;

/// <summary>A scenario's results.</summary>
internal sealed record ScenarioReport
{
    public required string Name { get; init; }

    public required string Description { get; init; }

    /// <summary>How it was measured, beyond what holds for every scenario.</summary>
    public required string Method { get; init; }

    /// <summary>Keys of the metrics that its table shows, in order.</summary>
    public required IReadOnlyList<string> Columns { get; init; }

    public required IReadOnlyList<WorkloadReport> Workloads { get; init; }

    /// <summary>Tables beside the workloads': of what compares nobody.</summary>
    public IReadOnlyList<ReportTable> Tables { get; init; } = [];
}
