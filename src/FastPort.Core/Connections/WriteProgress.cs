namespace FastPort.Connections;

/// <summary>
/// Notices a peer that takes too little of the bytes that wait for it: in the timeout neither all that waited at its beginning, nor as much
/// as the minimum rate asks for,
/// at least one byte. It is asked at every tick while bytes wait, perhaps not while none do. Used by the coarse clock's thread alone;
/// mutable, so keep it in one
/// non-readonly field.
/// </summary>
/// <param name="timeout">The time that is looked at; zero for never.</param>
/// <param name="minimumRate">Bytes per second, 0 or more.</param>
internal struct WriteProgress(TimeSpan timeout, int minimumRate)
{
    private readonly long _enough = Math.Max(1, (long)(minimumRate * timeout.TotalSeconds));
    private long _goal;
    private long _since;

    /// <summary>Whether bytes waited at the last look: the next tick has to look again.</summary>
    public bool IsWaiting { readonly get; private set; }

    /// <summary>Since when too few of the waiting bytes were taken, as of the last look; -1 where none waited.</summary>
    public readonly long WaitsSince => IsWaiting ? _since : -1;

    public void Start(long nowMilliseconds) => _since = nowMilliseconds;

    /// <summary>
    /// Notes how far sending has come; true where it has come no further in the timeout than a peer makes it that does not really read.
    /// </summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="sent">Bytes the operating system has taken since the start.</param>
    /// <param name="pending">Bytes that wait.</param>
    public bool IsStuck(long nowMilliseconds, long sent, long pending)
    {
        if (pending == 0 || (IsWaiting && sent >= _goal))
        {
            Begin(nowMilliseconds, sent, pending);
        }
        else if (!IsWaiting)
        {
            // The last look may be long ago. Whoever flushes asks for the next one, so the bytes have not waited for longer than a period.
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
