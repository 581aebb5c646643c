using System.Runtime.CompilerServices;

namespace FastPort.Telemetry;

/// <summary>
/// Collects the latencies of the messages that one thread handles in a row and records them together: one visit to the shared histograms
/// per run of messages of the same type, and at most one clock reading per message, as a handler starts where the one before it ended.
/// Messages that are handled faster than <see cref="ShortNanoseconds"/> share readings: each gets an equal part of the time between two.
/// Where that time is longer after all, the last one gets what is more, so that a slow handler is seen as slow as it was.
/// Belongs to one thread between <see cref="Begin"/> and <see cref="End"/>.
/// </summary>
internal sealed class HandledBurst
{
    /// <summary>Time up to which a message shares the next reading: a reading costs a tenth of it.</summary>
    public const long ShortNanoseconds = 250;

    /// <summary>Messages that share a reading at most.</summary>
    public const int SharedReading = 8;

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

    // Messages since the last reading, and whether the ones before it were short. The first message of a burst always has its reading.
    private int _unread;
    private bool _isShort;

    /// <summary>When a message was handled last, as far as the clock was read; before the first, when the burst began.</summary>
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
        burst._isShort = false;
        return burst;
    }

    /// <summary>
    /// A message of this series has just been handled; false where the clock has to be read for it, see <see cref="Add"/>.
    /// </summary>
    public bool TryAdd(LatencySeries series)
    {
        if (!_isShort || _unread == SharedReading - 1 || _count + _unread == Capacity || !ReferenceEquals(series, _series))
        {
            return false;
        }

        _unread++;
        return true;
    }

    /// <summary>A message of this series has just been handled.</summary>
    /// <param name="series">Where it belongs.</param>
    /// <param name="now">The clock's reading.</param>
    public void Add(LatencySeries series, long now)
    {
        long each = _unread == 0 ? now - _last : (now - _last) / (_unread + 1);
        _isShort = each < ShortNanoseconds;
        if (_unread != 0)
        {
            AddUnread(Math.Min(each, ShortNanoseconds));
        }

        if (!ReferenceEquals(series, _series) || _count == Capacity)
        {
            StartOver(series);
        }

        _ends[_count++] = _last = now;
    }

    /// <summary>Records what is left and gives the instance back.</summary>
    public void End()
    {
        if (_unread != 0)
        {
            _unread--;
            Add(_series!, MonotonicClock.Nanoseconds);
        }

        Flush();
        _series = _session = null;
        _free = this;
    }

    private void AddUnread(long each)
    {
        for (; _unread > 0; _unread--)
        {
            _last += each;
            _ends[_count++] = _last;
        }
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
