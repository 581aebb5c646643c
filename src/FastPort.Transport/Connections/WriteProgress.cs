namespace FastPort.Connections;

/// <summary>
/// Detects a peer that reads too few of the pending bytes. Within the timeout the peer must read all bytes that were pending at its start,
/// or as many as the minimum rate requires, at least one. The clock calls it at every tick while bytes wait. Used only by the coarse
/// clock's thread; mutable, so keep it in one non-readonly field.
/// </summary>
/// <param name="timeout">The period to check; zero to check nothing.</param>
/// <param name="minimumRate">Bytes per second, 0 or more.</param>
internal struct WriteProgress(TimeSpan timeout, int minimumRate)
{
    private readonly long _enough = Math.Max(1, (long)(minimumRate * timeout.TotalSeconds));
    private long _goal;
    private long _since;

    /// <summary>Whether bytes waited at the last check: the next tick must check again.</summary>
    public bool IsWaiting { readonly get; private set; }

    /// <summary>Time since which the peer has read too few of the pending bytes, as of the last check; -1 if none waited.</summary>
    public readonly long WaitsSince => IsWaiting ? _since : -1;

    public void Start(long nowMilliseconds) => _since = nowMilliseconds;

    /// <summary>Records the progress of sending; true if the peer has taken too few bytes within the timeout.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="sent">Bytes that the operating system has taken since the start.</param>
    /// <param name="pending">Bytes that wait.</param>
    public bool IsStuck(long nowMilliseconds, long sent, long pending)
    {
        if (pending == 0 || (IsWaiting && sent >= _goal))
        {
            Begin(nowMilliseconds, sent, pending);
        }
        else if (!IsWaiting)
        {
            // The last check may be long ago. Every flush requests a tick, so the bytes have waited for at most one period.
            Begin(Math.Max(_since, nowMilliseconds - (long)ConnectionClock.Period.TotalMilliseconds), sent, pending);
        }

        IsWaiting = pending != 0;
        return IsWaiting && timeout > TimeSpan.Zero && nowMilliseconds - _since >= timeout.TotalMilliseconds;
    }

    private void Begin(long since, long sent, long pending)
    {
        _since = since;
        _goal = sent + Math.Min(pending, _enough);
    }
}
