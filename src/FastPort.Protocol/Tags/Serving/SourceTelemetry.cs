namespace FastPort.Protocol.Tags.Serving;

/// <summary>Counters of a source. Safe from any thread.</summary>
internal sealed class SourceTelemetry
{
    private long _calls;
    private long _joined;
    private long _fromCache;
    private long _dropped;
    private long _callTicks;

    /// <summary>Calls of the source: reads and writes.</summary>
    public long Calls => Volatile.Read(ref _calls);

    /// <summary>Tags that were read by a call that another request had asked for.</summary>
    public long Joined => Volatile.Read(ref _joined);

    /// <summary>Tags that were read from the cache.</summary>
    public long FromCache => Volatile.Read(ref _fromCache);

    /// <summary>Samples that were dropped because a subscriber was too slow for its queue.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>Time that the source took for all calls.</summary>
    public TimeSpan CallTime => new(Volatile.Read(ref _callTicks));

    public void OnCalled(TimeSpan time)
    {
        Interlocked.Increment(ref _calls);
        Interlocked.Add(ref _callTicks, time.Ticks);
    }

    // Under the source's gate.
    public void OnJoined() => _joined++;

    public void OnFromCache(int tags) => Interlocked.Add(ref _fromCache, tags);

    public void OnDropped(long samples) => Interlocked.Add(ref _dropped, samples);
}
