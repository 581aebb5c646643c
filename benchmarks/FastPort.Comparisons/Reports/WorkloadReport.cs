using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Reports;

/// <summary>A workload's results: figures of everybody who took part, ratios between them.</summary>
internal sealed record WorkloadReport
{
    public required string Title { get; init; }

    /// <summary>Whether one load client drove everybody.</summary>
    public bool HasOneClient { get; init; }

    public required IReadOnlyList<ContestantReport> Contestants { get; init; }

    /// <summary>Those against whom the one client had no more to give while they had: the rate is the client's then.</summary>
    public IEnumerable<ContestantReport> ClientBound() => HasOneClient ? Contestants.Where(contestant => contestant.IsClientBound()) : [];

    public required IReadOnlyList<RatioReport> Ratios { get; init; }

    /// <summary>Targets that were held against nothing, as somebody was missing or failed.</summary>
    public int NotMeasured { get; init; }

    /// <summary>What was left out, and what the figures do not show by themselves.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    /// <summary>Who could not be measured to the end, and why.</summary>
    public required IReadOnlyList<string> Failures { get; init; }

    public static WorkloadReport Create(
        Workload workload, IReadOnlyList<ContestantRuns> runs, IReadOnlyList<string> notes, IReadOnlyList<string> failures)
    {
        ContestantReport[] contestants = [.. runs.Select(ContestantReport.Create)];
        return new WorkloadReport
        {
            Title = workload.Title,
            HasOneClient = workload.HasOneClient,
            Contestants = contestants,
            Ratios = [.. workload.Questions.SelectMany(question => RatioReport.Create(question, contestants, workload.HasOneClient))],
            NotMeasured = workload.NotMeasured(contestants),
            Notes = notes,
            Failures = failures,
        };
    }
}

/// <summary>One who took part: figures over all runs, and the runs themselves.</summary>
internal sealed record ContestantReport
{
    // Of a core: less is no saturation, and the difference between two shares smaller than this is noise.
    private const double Saturated = 0.9;
    private const double Noise = 0.05;

    public required string Name { get; init; }

    public required IReadOnlyDictionary<string, Spread> Figures { get; init; }

    public required IReadOnlyList<IReadOnlyDictionary<string, double>> Runs { get; init; }

    /// <summary>Whether the client had no more to give while the server had.</summary>
    public bool IsClientBound() =>
        Figures.TryGetValue(Metric.ClientCpuShare.Key, out Spread? client)
        && Figures.TryGetValue(Metric.ServerCpuShare.Key, out Spread? server)
        && client.Median >= Saturated && client.Median > server.Median + Noise;

    public static ContestantReport Create(ContestantRuns runs)
    {
        IEnumerable<Metric> measured = Metric.All.Where(
            metric => runs.Runs.Count > 0 && runs.Runs.All(run => run.Values.ContainsKey(metric.Key)));
        return new ContestantReport
        {
            Name = runs.Contestant.Name,
            Figures = measured.ToDictionary(
                metric => metric.Key, metric => Spread.Of(runs.Runs.Select(run => run.Values[metric.Key])), StringComparer.Ordinal),
            Runs = [.. runs.Runs.Select(run => run.Values)],
        };
    }
}
