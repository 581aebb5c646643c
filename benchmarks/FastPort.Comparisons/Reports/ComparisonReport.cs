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

    /// <summary>Whether only some of the workloads were measured: the command asked for them, or the run was still under way.</summary>
    public bool IsPartial { get; init; }

    /// <summary>Whether it was only to be seen that everything runs.</summary>
    public bool IsQuick { get; init; }

    public required MachineInfo Machine { get; init; }

    public required RunSettings Settings { get; init; }

    /// <summary>What holds for every scenario, such as that nothing could be pinned.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    public required IReadOnlyList<ScenarioReport> Scenarios { get; init; }

    /// <summary>The ratios of which something is asked.</summary>
    public IReadOnlyList<RatioReport> Targeted() =>
        [.. Scenarios.SelectMany(scenario => scenario.Workloads).SelectMany(workload => workload.Ratios)
            .Where(ratio => ratio.Target is not null)];

    /// <summary>Targets that were held against nothing.</summary>
    public int NotMeasured() => Scenarios.SelectMany(scenario => scenario.Workloads).Sum(workload => workload.NotMeasured);

    /// <summary>Why its tables would not be those of whole measurements; null where they are.</summary>
    /// <param name="allowsQuick">Whether figures that mean nothing are good enough.</param>
    public string? Unpublishable(bool allowsQuick)
    {
        return IsPartial ? "only some of the workloads were measured (--only, or a run that was cut off)"
            : IsQuick && !allowsQuick ? "--quick's figures mean nothing"
            : Scenarios.SelectMany(scenario => scenario.Workloads).SelectMany(workload => workload.Failures).FirstOrDefault();
    }
}

/// <summary>How the figures were taken.</summary>
internal sealed record RunSettings(double Seconds, int Repetitions, double WarmupSeconds, int? ServerCore, int? ClientCore);
