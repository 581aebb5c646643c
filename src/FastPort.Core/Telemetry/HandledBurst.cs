using System.Runtime.CompilerServices;

namespace FastPort.Telemetry;

/// <summary>
/// Collects the latencies of the messages that one thread handles in a row and records them together: one clock reading per message (a
/// handler starts where the one before it ended) and one visit to the shared histograms per run of messages of the same type.
/// Belongs to one thread between <see cref="Begin"/> and <see cref="End"/>.
/// </summary>
internal sealed class HandledBurst
{
    private const int Capacity = 64;

    [ThreadStatic]
    private static HandledBurst? _free;

    private readonly long[] _ends = new long[Capacity];
    private LatencySeries? _series;
    private LatencySeries? _session;
    private long _received;

    // When the first of the collected messages began, and when the last one ended.
    private long _began;
    private long _last;
    private int _count;

    /// <summary>When the last message was handled; before the first, when the burst began.</summary>
    public long LastReading => _last;

    /// <summary>Takes this thread's instance; a burst inside a burst gets one of its own.</summary>
    /// <param name="received">When the burst's bytes were in memory, in nanoseconds of the monotonic clock.</param>
    /// <param name="now">The clock's reading: when the first handler can start.</param>
    /// <param name="session">The session's own series, where it has one.</param>
    public static HandledBurst Begin(long received, long now, LatencySeries? session)
    {
        HandledBurst burst = _free ?? new HandledBurst();
        _free = null;
        burst._received = received;
        burst._session = session;
        burst._last = now;
        return burst;
    }

    /// <summary>A message of this series has just been handled.</summary>
    /// <param name="series">Where it belongs.</param>
    /// <param name="now">The clock's reading.</param>
    public void Add(LatencySeries series, long now)
    {
        if (!ReferenceEquals(series, _series) || _count == Capacity)
        {
            StartOver(series);
        }

        _ends[_count++] = _last = now;
    }

    /// <summary>Records what is left and gives the instance back.</summary>
    public void End()
    {
        Flush();
        _series = _session = null;
        _free = this;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void StartOver(LatencySeries series)
    {
        Flush();
        _series = series;
        _began = _last;
    }

    private void Flush()
    {
        if (_count != 0)
        {
            _series!.RecordHandled(_received, _began, _ends.AsSpan(0, _count));
            _session?.RecordHandled(_received, _began, _ends.AsSpan(0, _count));
            _count = 0;
        }
    }
}
