namespace FastPort.Comparisons.Scenarios;

/// <summary>How long a command measures and how often, where nobody says.</summary>
/// <param name="Seconds">Measured seconds of each run.</param>
/// <param name="QuickSeconds">The same of a quick run.</param>
/// <param name="Repetitions">Runs of each candidate.</param>
/// <param name="QuickRepetitions">The same of a quick run.</param>
internal sealed record ScenarioDefaults(double Seconds, double QuickSeconds, int Repetitions, int QuickRepetitions)
{
    public static readonly ScenarioDefaults Usual = new(2, 0.3, 5, 1);

    /// <summary>Seconds of load on each new .NET process before its first measured run. Defaults to 5.</summary>
    public double WarmupSeconds { get; init; } = 5;

    /// <summary>Runs without which there is no result. Defaults to 1.</summary>
    public int FewestRepetitions { get; init; } = 1;
}
