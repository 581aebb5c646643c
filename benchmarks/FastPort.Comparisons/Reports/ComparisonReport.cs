namespace FastPort.Comparisons.Reports;

/// <summary>The whole run, as it is written to JSON.</summary>
internal sealed record ComparisonReport
{
    /// <summary>The version of what is written: changes when a field changes its meaning or goes.</summary>
    public const int CurrentSchema = 2;

    public int Schema { get; init; } = CurrentSchema;

    public required DateTimeOffset Date { get; init; }

    /// <summary>What was run, to be typed again.</summary>
    public required string Command { get; init; }

    /// <summary>Commit of the working tree, with <c>+changes</c> where it is not clean; <c>unknown</c> outside of a repository.</summary>
    public required string Commit { get; init; }

    public required MachineInfo Machine { get; init; }

    public required RunSettings Settings { get; init; }

    /// <summary>What holds for every scenario, such as that nothing could be pinned.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    public required IReadOnlyList<ScenarioReport> Scenarios { get; init; }

    /// <summary>The ratios of which something is asked.</summary>
    public IReadOnlyList<RatioReport> Targeted() =>
        [.. Scenarios.SelectMany(scenario => scenario.Workloads).SelectMany(workload => workload.Ratios)
            .Where(ratio => ratio.Target is not null)];
}

/// <summary>How the figures were taken.</summary>
internal sealed record RunSettings(double Seconds, int Repetitions, double WarmupSeconds, int? ServerCore, int? ClientCore);
