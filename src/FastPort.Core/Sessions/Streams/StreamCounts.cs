namespace FastPort.Sessions.Streams;

/// <summary>One session's counts of items, of both directions and of all its streams. The loop reports them at its ticks.</summary>
internal sealed class StreamCounts
{
    private long _itemsIn;
    private long _itemsOut;
    private long _stalls;

    /// <summary>Items received.</summary>
    public long ItemsIn => Volatile.Read(ref _itemsIn);

    /// <summary>Items sent.</summary>
    public long ItemsOut => Volatile.Read(ref _itemsOut);

    /// <summary>How often a sender had to wait for credit.</summary>
    public long Stalls => Volatile.Read(ref _stalls);

    /// <summary>Loop only.</summary>
    public void Received() => Volatile.Write(ref _itemsIn, _itemsIn + 1);

    public void Sent() => Interlocked.Increment(ref _itemsOut);

    public void Stalled() => Interlocked.Increment(ref _stalls);
}
