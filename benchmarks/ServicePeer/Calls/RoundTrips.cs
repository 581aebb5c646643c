using System.Diagnostics;
using FastPort.Telemetry;

namespace ServicePeer.Calls;

/// <summary>Counts and times the calls of all callers. A histogram per thread: callers are resumed on any.</summary>
internal sealed class RoundTrips : IDisposable
{
    private volatile ThreadLocal<LatencyHistogram> _histograms = New();
    private long _counted;
    private readonly CancellationTokenSource _end = new();
    private volatile bool _ended;

    /// <summary>Whether callers make no more calls.</summary>
    public bool Ended => _ended;

    /// <summary>Canceled when callers make no more calls: for those that wait for an item.</summary>
    public CancellationToken End => _end.Token;

    /// <summary>A call that began at this time has its reply.</summary>
    public void Record(long began) => _histograms.Value!.Record((long)Stopwatch.GetElapsedTime(began).TotalNanoseconds);

    /// <summary>An item of a stream has come. It is not timed: when it left depends on the window only.</summary>
    public void Count() => _histograms.Value!.Record(1);

    /// <summary>Counts anew. Calls in flight count to the new measurement.</summary>
    public void Begin()
    {
        _histograms = New();
        _counted = 0;
    }

    /// <summary>Trips that were recorded since the time before that somebody asked, and since <see cref="Begin"/>.</summary>
    public long CountNew()
    {
        long all = _histograms.Values.Sum(static histogram => histogram.Snapshot().Count);
        (long count, _counted) = (all - _counted, all);
        return count;
    }

    /// <summary>What was counted since <see cref="Begin"/>; recording threads may add a last call each to what was merged.</summary>
    public LatencySnapshot Take()
    {
        ThreadLocal<LatencyHistogram> taken = _histograms;
        _histograms = New();
        var all = new LatencyHistogram();
        foreach (LatencyHistogram one in taken.Values)
        {
            all.Merge(one.Snapshot());
        }

        return all.Snapshot();
    }

    public void EndCalls()
    {
        _ended = true;
        _end.Cancel();
    }

    public void Dispose()
    {
        _histograms.Dispose();
        _end.Dispose();
    }

    private static ThreadLocal<LatencyHistogram> New() => new(static () => new LatencyHistogram(), trackAllValues: true);
}
