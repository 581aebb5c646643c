namespace FastPort.Telemetry;

/// <summary>A <see cref="LatencyHistogram"/> that any number of threads may record into and read at the same time.</summary>
/// <remarks>
/// <para>
/// Values are striped by processor and merged by a read. A read contains every value recorded before it exactly once.
/// </para>
/// <para>
/// Memory: one <see cref="LatencyHistogram"/> per processor that recorded, allocated at its first record, and up to three more after the
/// first read (spare, interval, lifetime). Recording allocates only for the first value of a power of two.
/// </para>
/// </remarks>
internal sealed class StripedLatencyHistogram
{
    private readonly HistogramStripes _stripes;

    /// <summary>Creates an empty histogram.</summary>
    /// <param name="stripes">Maximum number of stripes, 1 to 64, rounded up to a power of two. Defaults to 0: one per processor.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="stripes"/> is not within 0 to 64.</exception>
    public StripedLatencyHistogram(int stripes = 0)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(stripes);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stripes, StripeSet<HistogramStripe>.MaxStripes);
        _stripes = new HistogramStripes(1, (int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)stripes));
    }

    /// <summary>Records one value.</summary>
    /// <param name="nanoseconds">Any value; a value outside 100 ns to 60 s is clamped and counted.</param>
    public void Record(long nanoseconds)
    {
        var stripe = _stripes.Enter();
        try
        {
            stripe.Active[0].Record(nanoseconds);
        }
        finally
        {
            stripe.Exit();
        }
    }

    /// <summary>Adds all values of another histogram.</summary>
    /// <param name="other">Left unchanged; no thread may write to it during the call.</param>
    public void Merge(LatencyHistogram other)
    {
        ArgumentNullException.ThrowIfNull(other);
        _stripes.Merge(0, other);
    }

    /// <summary>Everything recorded since construction or the last <see cref="Reset"/>.</summary>
    public LatencySnapshot Snapshot() => _stripes.Read()[0].Lifetime;

    /// <summary>The values recorded since the last cut. Begins the next interval: each value is in exactly one interval.</summary>
    public LatencySnapshot CutInterval() => _stripes.Cut()[0].Interval;

    /// <summary>Removes all recorded values, of interval and lifetime.</summary>
    public void Reset() => _stripes.Reset();
}
