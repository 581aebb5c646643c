namespace FastPort;

/// <summary>
/// The delays between attempts to reconnect: none before the first attempt, then doubling up to a maximum. Each delay has jitter of plus or
/// minus a quarter, so that the clients of a restarted server do not reconnect at the same time. For clients of any protocol. Used by one
/// task at a time.
/// </summary>
public sealed class ReconnectBackoff
{
    private static readonly TimeSpan LeastGood = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan SurelyGood = TimeSpan.FromSeconds(10);

    private readonly TimeSpan _first;
    private readonly TimeSpan _longest;
    private readonly Random _random;
    private TimeSpan _next;

    /// <summary>Creates the delays of one client.</summary>
    /// <param name="first">Delay before the second attempt; above 0.</param>
    /// <param name="longest">Maximum delay before jitter; at least <paramref name="first"/>.</param>
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

    /// <summary>Starts again with no delay, after a successful connection.</summary>
    public void Reset() => _next = TimeSpan.Zero;

    /// <summary>
    /// Reports the end of a connection: starts again with no delay if the connection lasted long enough. Otherwise the delays keep growing,
    /// so that a server that drops each connection at once is not tried in a tight loop. Long enough is at least a second and at least the
    /// next delay without its jitter; 10 s, or the maximum delay, always suffice.
    /// </summary>
    /// <param name="connected">How long the connection lasted.</param>
    public void ResetAfter(TimeSpan connected)
    {
        TimeSpan good = _next > LeastGood ? _next : LeastGood;
        if (connected >= good || connected >= SurelyGood || connected >= _longest)
        {
            Reset();
        }
    }
}
