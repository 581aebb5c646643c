namespace FastPort.Connections;

/// <summary>
/// Notices a peer that takes none of the bytes that wait for it. It is asked at every tick while bytes wait, perhaps not while none do. Used by the coarse clock's thread alone; mutable, so keep it in one
/// non-readonly field.
/// </summary>
internal struct WriteProgress(TimeSpan timeout)
{
    private long _sent;
    private long _since;

    /// <summary>Whether bytes waited at the last look: the next tick has to look again.</summary>
    public bool IsWaiting { get; private set; }

    public void Start(long nowMilliseconds) => _since = nowMilliseconds;

    /// <summary>Notes how far sending has come; true where it has stood still for the timeout with bytes waiting.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="sent">Bytes the operating system has taken since the start.</param>
    /// <param name="pending">Bytes that wait.</param>
    public bool IsStuck(long nowMilliseconds, long sent, long pending)
    {
        if (sent != _sent || pending == 0)
        {
            _sent = sent;
            _since = nowMilliseconds;
        }
        else if (!IsWaiting)
        {
            // The last look may be long ago. Whoever flushes asks for the next one, so the bytes have not waited for longer than a period.
            _since = Math.Max(_since, nowMilliseconds - (long)ConnectionClock.Period.TotalMilliseconds);
        }

        IsWaiting = pending != 0;
        return timeout > TimeSpan.Zero && nowMilliseconds - _since >= timeout.TotalMilliseconds;
    }
}
