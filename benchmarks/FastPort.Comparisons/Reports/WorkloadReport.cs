using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Reports;

/// <summary>A workload's results: figures of each candidate, ratios between them.</summary>
internal sealed record WorkloadReport
{
    public required string Title { get; init; }

    public required int Connections { get; init; }

    public required int InFlight { get; init; }

    public required int PayloadBytes { get; init; }

    public required bool ClientOnServerCore { get; init; }

    public required IReadOnlyList<CandidateReport> Candidates { get; init; }

    public required IReadOnlyList<RatioReport> Ratios { get; init; }

    /// <summary>What was left out, and why.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    /// <summary>Why the workload could not be measured to its end, or null.</summary>
    public string? Failure { get; init; }

    public static WorkloadReport Create(
        Workload workload,
        IReadOnlyList<(Candidate Candidate, List<LoadResult> Results)> runs,
        IReadOnlyList<string> notes,
        string? failure)
    {
        // A workload that failed half-way has no figures: a median of fewer runs would look like any other.
        bool whole = failure is null;
        return new WorkloadReport
        {
            Title = workload.Shape.Title,
            Connections = workload.Shape.Connections,
            InFlight = workload.Shape.InFlight,
            PayloadBytes = workload.Shape.PayloadBytes,
            ClientOnServerCore = workload.Shape.OnServerCore,
            Candidates = whole ? [.. runs.Select(run => CandidateReport.Create(run.Candidate, run.Results))] : [],
            Ratios = whole && runs.Count == 2
                ? [.. workload.Questions.Select(question => RatioReport.Create(question, runs[0], runs[1]))]
                : [],
            Notes = notes,
            Failure = failure,
        };
    }
}

/// <summary>A candidate's figures over all its runs, and the runs themselves.</summary>
internal sealed record CandidateReport
{
    public required string Name { get; init; }

    public required string MessageType { get; init; }

    public required IReadOnlyDictionary<string, Spread> Figures { get; init; }

    public required IReadOnlyList<LoadResult> Runs { get; init; }

    public static CandidateReport Create(Candidate candidate, IReadOnlyList<LoadResult> runs) => new()
    {
        Name = candidate.Name,
        MessageType = $"0x{candidate.MessageType:X4}",
        Figures = Metric.All.ToDictionary(metric => metric.Key, metric => Spread.Of(runs.Select(metric.Read)), StringComparer.Ordinal),
        Runs = runs,
    };
}
