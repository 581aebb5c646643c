namespace FastPort.Comparisons.Simulation;

/// <summary>Searches for the highest rate at which a cluster keeps up.</summary>
internal static class Capacity
{
    /// <summary>The 99th percentile that a relay or a claim may have at the most, in microseconds.</summary>
    public const double Bound = 10_000;

    private const double Seconds = 0.06;
    private const double Lowest = 1000;
    private const double Highest = 4_000_000;
    private const double Precision = 1.1;

    /// <summary>The highest rate of relays; sessions come and go as the settings say.</summary>
    public static double Relays(SimulationSettings settings) => Search(rate =>
    {
        Observation seen = Observe(settings with { RelaysPerSecond = rate });
        return KeepsUp(seen.Counters.Relays, seen.Counters.RelaysSent);
    });

    /// <summary>The highest rate of claims, each with the release of another id; without relays and publications.</summary>
    public static double Claims(SimulationSettings settings) => Search(rate =>
    {
        SimulationSettings claiming = settings with
        {
            RelaysPerSecond = 0,
            PublicationsPerSecond = 0,
            SessionSeconds = settings.Ids / rate,
        };
        Observation seen = Observe(claiming);
        return KeepsUp(seen.Counters.Claims, seen.Counters.ClaimsSent);
    });

    /// <summary>The highest rate of publications of topics, without relays.</summary>
    public static double Publications(SimulationSettings settings) => Search(rate =>
    {
        Observation seen = Observe(settings with { RelaysPerSecond = 0, PublicationsPerSecond = rate });
        return KeepsUp(seen.Counters.Publications, (long)(seen.Counters.Publications.Count / 0.98));
    });

    private static Observation Observe(SimulationSettings settings)
    {
        var cluster = new Cluster(settings);
        new Traffic(cluster).Begin();
        Observation.Run(cluster, Seconds);
        return Observation.Run(cluster, Seconds);
    }

    private static bool KeepsUp(Latencies latencies, long sent) => latencies.At(0.99) <= Bound && latencies.Count >= 0.95 * sent;

    // Geometric: first up by doubling, then between.
    private static double Search(Func<double, bool> keepsUp)
    {
        double good = Lowest;
        double bad = Lowest * 2;
        while (bad < Highest && keepsUp(bad))
        {
            (good, bad) = (bad, bad * 2);
        }

        while (bad / good > Precision)
        {
            double middle = Math.Sqrt(good * bad);
            (good, bad) = keepsUp(middle) ? (middle, bad) : (good, middle);
        }

        return good;
    }
}
