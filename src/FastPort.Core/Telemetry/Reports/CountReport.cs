namespace FastPort.Telemetry;

/// <summary>A count of the application over the interval and over the lifetime.</summary>
/// <param name="Owner">Its owner, such as a device.</param>
/// <param name="Name">Its name in files.</param>
/// <param name="Interval">Since the last interval was cut.</param>
/// <param name="Lifetime">Since measuring began, or the count was added.</param>
internal sealed record CountReport(string Owner, string Name, CountIncrease Interval, CountIncrease Lifetime);

/// <summary>How much a count has grown.</summary>
/// <param name="Count">The growth.</param>
/// <param name="Per">Growth of the count by which it is divided; null for a count that is reported as it is.</param>
internal readonly record struct CountIncrease(long Count, long? Per)
{
    /// <summary>The ratio; null if there is nothing to divide by.</summary>
    public double? Ratio => Per is > 0 and var per ? (double)Count / per : null;

    public static CountIncrease operator +(CountIncrease a, CountIncrease b) => new(a.Count + b.Count, a.Per + b.Per);

    public static CountIncrease operator -(CountIncrease a, CountIncrease b) => new(a.Count - b.Count, a.Per - b.Per);
}
