namespace FastPort.Clients;

/// <summary>
/// The delays between attempts to reconnect: the first attempt at once, then doubling up to a longest delay, each jittered by a quarter
/// either way so that many clients of a restarted server do not come back in step. For clients of any protocol. Used by one task at a time.
/// </summary>
public sealed class ReconnectBackoff
{
    private readonly TimeSpan _first;
    private readonly TimeSpan _longest;
    private readonly Random _random;
    private TimeSpan _next;

    /// <summary>Makes the delays of one client.</summary>
    /// <param name="first">Delay before the second attempt; above 0.</param>
    /// <param name="longest">Longest delay before jitter; at least <paramref name="first"/>.</param>
    /// <param name="random">Source of the jitter. Defaults to <see cref="Random.Shared"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">A delay is outside its range.</exception>
    public ReconnectBackoff(TimeSpan first, TimeSpan longest, Random? random = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(first, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(longest, first);
        _first = first;
        _longest = longest;
        _random = random ?? Random.Shared;
    }

    /// <summary>The delay before the next attempt.</summary>
    public TimeSpan Next()
    {
        TimeSpan delay = _next;
        _next = delay == TimeSpan.Zero ? _first : delay + delay < _longest ? delay + delay : _longest;
        return delay * (0.75 + (_random.NextDouble() / 2));
    }

    /// <summary>A connection worked: start anew.</summary>
    public void Reset() => _next = TimeSpan.Zero;
}
