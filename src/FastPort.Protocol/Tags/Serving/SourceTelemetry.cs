namespace FastPort.Protocol.Tags.Serving;

/// <summary>Counters of a source. Safe from any thread.</summary>
internal sealed class SourceTelemetry
{
    private long _tagsRead;
    private long _tagsWritten;
    private long _joined;
    private long _fromCache;
    private long _dropped;
    private long _losses;

    /// <summary>Tags that were read from the source.</summary>
    public long TagsRead => Volatile.Read(ref _tagsRead);

    /// <summary>Tags that were written to the source.</summary>
    public long TagsWritten => Volatile.Read(ref _tagsWritten);

    /// <summary>Tags that were answered by a read that another request had asked for.</summary>
    public long Joined => Volatile.Read(ref _joined);

    /// <summary>Tags that were answered from the cache.</summary>
    public long FromCache => Volatile.Read(ref _fromCache);

    /// <summary>Samples that were dropped because a subscriber was too slow for its queue.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>How often the source has lost its connection.</summary>
    public long Losses => Volatile.Read(ref _losses);

    public void OnRead(int tags) => Interlocked.Add(ref _tagsRead, tags);

    public void OnWritten(int tags) => Interlocked.Add(ref _tagsWritten, tags);

    public void OnJoined(int tags) => Interlocked.Add(ref _joined, tags);

    public void OnFromCache(int tags) => Interlocked.Add(ref _fromCache, tags);

    public void OnDropped() => Interlocked.Increment(ref _dropped);

    public void OnLost() => Interlocked.Increment(ref _losses);
}
