namespace FastPort.Limits;

/// <summary>
/// A token bucket, kept as the time at which everything charged so far is paid (the generic cell rate algorithm): one number, no timer.
/// Thread-safe, without a lock.
/// </summary>
/// <param name="perSecond">Units per second, above 0.</param>
/// <param name="burst">The largest burst: the amount that the rate allows in this time.</param>
internal sealed class RateBucket(double perSecond, TimeSpan burst)
{
    private readonly double _nanosecondsEach = 1e9 / perSecond;
    private readonly long _burst = burst.Ticks * TimeSpan.NanosecondsPerTick;
    private long _paidAt = long.MinValue;

    /// <summary>The rate, in units per second.</summary>
    public double PerSecond => perSecond;

    /// <summary>Charges units that were already used. The bucket may go into debt.</summary>
    /// <param name="units">What was used.</param>
    /// <param name="now">The clock, in nanoseconds.</param>
    public void Charge(long units, long now)
    {
        long cost = (long)Math.Min(units * _nanosecondsEach, long.MaxValue / 4);
        while (true)
        {
            long paidAt = Volatile.Read(ref _paidAt);
            long next = Math.Max(paidAt, now) + cost;
            if (Interlocked.CompareExchange(ref _paidAt, next, paidAt) == paidAt)
            {
                return;
            }
        }
    }

    /// <summary>How long no more units may be used, in nanoseconds; 0 or less for no time.</summary>
    public long OverFor(long now) => Math.Max(Volatile.Read(ref _paidAt), now) - now - _burst;

    /// <summary>Takes one unit if the rate allows it now. One is always allowed when everything is paid.</summary>
    /// <param name="now">The clock, in nanoseconds.</param>
    public bool TryTake(long now)
    {
        long cost = (long)_nanosecondsEach;
        while (true)
        {
            long paidAt = Volatile.Read(ref _paidAt);
            long next = Math.Max(paidAt, now) + cost;
            if (next - now > Math.Max(_burst, cost))
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref _paidAt, next, paidAt) == paidAt)
            {
                return true;
            }
        }
    }

    /// <summary>Whether everything charged is paid: the bucket is as if new.</summary>
    public bool IsFull(long now) => Volatile.Read(ref _paidAt) <= now;
}
