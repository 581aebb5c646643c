namespace FastPort.Connections;

/// <summary>
/// Notices a peer that takes none of the bytes that wait for it. Used by the coarse clock's thread alone; mutable, so keep it in one
/// non-readonly field.
/// </summary>
internal struct WriteProgress(TimeSpan timeout)
{
    private long _sent;
    private long _since;

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

        return timeout > TimeSpan.Zero && nowMilliseconds - _since >= timeout.TotalMilliseconds;
    }
}
