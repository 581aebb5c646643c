namespace FastPort.Comparisons.Scenarios;

/// <summary>How long a command measures and how often, where nobody says.</summary>
internal sealed record ScenarioDefaults(double Seconds, double QuickSeconds, int Repetitions, int QuickRepetitions)
{
    public static readonly ScenarioDefaults Usual = new(2, 0.3, 5, 1);

    /// <summary>Three processes on one core are slower to have their code compiled.</summary>
    public static readonly ScenarioDefaults Bridge = Usual with { WarmupSeconds = 12 };

    /// <summary>The first repetition is warm-up, and ten ticks are a second.</summary>
    public static readonly ScenarioDefaults ReadWrite = new(60, 1, 3, 2);

    /// <summary>A rate line comes every 2 s, so that a quick run prints one.</summary>
    public static readonly ScenarioDefaults Package = new(60, 2.5, 1, 1);

    /// <summary>Long enough for an export every 10 s, and 20 pairs.</summary>
    public static readonly ScenarioDefaults Observed = new(11, 1, 20, 1);

    /// <summary>Seconds of load on each new .NET process before its first measured run. Defaults to 5.</summary>
    public double WarmupSeconds { get; init; } = 5;
}
