namespace FastPort.Client.Top;

/// <summary>The orders of the message types of <c>top</c>.</summary>
internal static class TopSort
{
    public const string Default = "rate";

    private static readonly Dictionary<string, Func<TopType, double>> Figures = new(StringComparer.Ordinal)
    {
        [Default] = static type => type.PerSecond,
        ["p50"] = static type => Latency(type.P50),
        ["p99"] = static type => Latency(type.P99),
        ["p999"] = static type => Latency(type.P999),
        ["max"] = static type => Latency(type.Max),
        ["errors"] = static type => type.Errors,
        ["name"] = static _ => 0,
    };

    public static IReadOnlyCollection<string> Names => Figures.Keys;

    /// <summary>Sorts by a figure, the largest first, and where it is the same by name.</summary>
    public static IReadOnlyList<TopType> Sort(IReadOnlyList<TopType> types, string name) =>
        [.. types.OrderByDescending(Figures[name]).ThenBy(static type => type.Name, StringComparer.Ordinal)];

    // Types without messages come after all that have some.
    private static double Latency(ulong? nanoseconds) => nanoseconds ?? -1.0;
}
