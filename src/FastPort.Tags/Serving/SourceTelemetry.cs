using System.Collections.Concurrent;
using FastPort.Telemetry;

namespace FastPort.Tags.Serving;

/// <summary>
/// Counters of a source, and the time of its calls. The reports of the server's latencies show both. Safe from any thread.
/// </summary>
internal sealed class SourceTelemetry
{
    private readonly string _source;
    private readonly LatencyStats? _latencies;

    // By operation.
    private readonly ConcurrentDictionary<string, LatencySeries> _calls = new(StringComparer.Ordinal);
    private long _tagsRead;
    private long _tagsWritten;
    private long _joined;
    private long _fromCache;
    private long _dropped;
    private long _losses;

    /// <param name="source">The source's name.</param>
    /// <param name="latencies">Receives the times and counts for reports; null for no reports.</param>
    public SourceTelemetry(string source, LatencyStats? latencies)
    {
        _source = source;
        _latencies = latencies;
        latencies?.AddCount(source, "read", () => TagsRead);
        latencies?.AddCount(source, "joined", () => Joined);
        latencies?.AddCount(source, "coalescing_factor", () => TagsRead + Joined, () => TagsRead);
        latencies?.AddCount(source, "cached", () => FromCache);
        latencies?.AddCount(source, "cache_hit_rate", () => FromCache, () => FromCache + TagsRead + Joined);
        latencies?.AddCount(source, "written", () => TagsWritten);
        latencies?.AddCount(source, "dropped", () => Dropped);
        latencies?.AddCount(source, "losses", () => Losses);
    }

    /// <summary>Tags that were read from the source.</summary>
    public long TagsRead => Volatile.Read(ref _tagsRead);

    /// <summary>Tags that were written to the source.</summary>
    public long TagsWritten => Volatile.Read(ref _tagsWritten);

    /// <summary>Tags that were answered by another request's read.</summary>
    public long Joined => Volatile.Read(ref _joined);

    /// <summary>Tags that were answered from the cache.</summary>
    public long FromCache => Volatile.Read(ref _fromCache);

    /// <summary>Samples that were dropped because a subscriber was too slow for its queue.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>How often the source has lost its connection.</summary>
    public long Losses => Volatile.Read(ref _losses);

    /// <summary>A call has ended, or was given up.</summary>
    public void OnCalled(string operation, TimeSpan time, TagStatus status)
    {
        if (_latencies is null)
        {
            return;
        }

        LatencySeries calls = _calls.GetOrAdd(
            operation, static (name, self) => self._latencies!.ForOperation($"{self._source} {name}"), this);
        calls.RecordCall((long)time.TotalNanoseconds);

        // The server asks one source after the other for paths and methods: a source without that name is not a failure.
        if (status.IsBad && status != TagStatus.BadNodeIdUnknown && status != TagStatus.BadMethodInvalid)
        {
            calls.RecordError();
        }
    }

    public void OnRead(int tags) => Interlocked.Add(ref _tagsRead, tags);

    public void OnWritten(int tags) => Interlocked.Add(ref _tagsWritten, tags);

    public void OnJoined(int tags) => Interlocked.Add(ref _joined, tags);

    public void OnFromCache(int tags) => Interlocked.Add(ref _fromCache, tags);

    public void OnDropped(int samples) => Interlocked.Add(ref _dropped, samples);

    public void OnLost() => Interlocked.Increment(ref _losses);
}
