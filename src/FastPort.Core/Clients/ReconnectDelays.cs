namespace FastPort.Clients;

/// <summary>
/// The delays between attempts to reconnect: the first attempt at once, then doubling up to a longest delay, each jittered by a quarter
/// either way so that many clients of a restarted server do not come back in step. Used by one task at a time.
/// </summary>
internal sealed class ReconnectDelays(TimeSpan first, TimeSpan longest, Random random)
{
    private TimeSpan _next;

    /// <summary>The delay before the next attempt.</summary>
    public TimeSpan Next()
    {
        TimeSpan delay = _next;
        _next = delay == TimeSpan.Zero ? first : delay + delay < longest ? delay + delay : longest;
        return delay * (0.75 + (random.NextDouble() / 2));
    }

    /// <summary>A connection worked: start anew.</summary>
    public void Reset() => _next = TimeSpan.Zero;
}
