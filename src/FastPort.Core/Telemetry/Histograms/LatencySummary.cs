namespace FastPort.Telemetry;

/// <summary>The figures of one set of latencies in tables and files. All values are nanoseconds; all are 0 if the set is empty.</summary>
internal readonly record struct LatencySummary
{
    /// <summary>Number of values.</summary>
    public long Count { get; init; }

    /// <summary>Smallest value.</summary>
    public long Min { get; init; }

    /// <summary>Arithmetic mean.</summary>
    public double Mean { get; init; }

    /// <summary>Median.</summary>
    public long P50 { get; init; }

    /// <summary>90th percentile.</summary>
    public long P90 { get; init; }

    /// <summary>95th percentile.</summary>
    public long P95 { get; init; }

    /// <summary>99th percentile.</summary>
    public long P99 { get; init; }

    /// <summary>99.9th percentile.</summary>
    public long P999 { get; init; }

    /// <summary>99.99th percentile.</summary>
    public long P9999 { get; init; }

    /// <summary>Largest value.</summary>
    public long Max { get; init; }

    /// <summary>Values below the histogram's range, counted at its lower end; always 0 for exact sets.</summary>
    public long ClampedLow { get; init; }

    /// <summary>Values above the histogram's range, counted at its upper end; always 0 for exact sets.</summary>
    public long ClampedHigh { get; init; }

    /// <summary>
    /// P99 / mean, the stability figure: 1 means that all values are equal. 0 if the set is empty or the mean is not positive.
    /// </summary>
    public double P99OverMean => Mean > 0 ? P99 / Mean : 0;

    /// <summary>The exact figures of values in ascending order.</summary>
    internal static LatencySummary FromSorted(ReadOnlySpan<long> sorted)
    {
        if (sorted.IsEmpty)
        {
            return default;
        }

        Int128 sum = 0;
        foreach (var value in sorted)
        {
            sum += value;
        }

        return new LatencySummary
        {
            Count = sorted.Length,
            Min = sorted[0],
            Mean = (double)sum / sorted.Length,
            P50 = At(sorted, 50),
            P90 = At(sorted, 90),
            P95 = At(sorted, 95),
            P99 = At(sorted, 99),
            P999 = At(sorted, 99.9),
            P9999 = At(sorted, 99.99),
            Max = sorted[^1],
        };
    }

    private static long At(ReadOnlySpan<long> sorted, double percent) => sorted[(int)LatencySnapshot.Rank(percent, sorted.Length) - 1];
}
