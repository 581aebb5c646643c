using System.Runtime.CompilerServices;

namespace FastPort.Telemetry;

/// <summary>
/// Collects the latencies of the messages that one thread handles in a row and records them together: one access to the shared histograms
/// per run of messages of the same type, and at most one clock reading per message, because the end of a handler is the start of the next.
/// Messages that are handled in less than <see cref="ShortNanoseconds"/> share readings: each gets an equal part of the time between two
/// readings, but all except the last at most <see cref="ShortNanoseconds"/>, so that a slow handler is not hidden. Used by one thread
/// between <see cref="Begin"/> and <see cref="End"/>.
/// </summary>
internal sealed class HandledBurst
{
    /// <summary>Time per message, in nanoseconds, below which messages share readings; a reading costs a tenth of it.</summary>
    public const long ShortNanoseconds = 250;

    /// <summary>Maximum number of messages that share a reading.</summary>
    public const int SharedReading = 8;

    private const int Capacity = 64;

    [ThreadStatic]
    private static HandledBurst? _free;

    private readonly long[] _ends = new long[Capacity];
    private LatencySeries? _series;
    private LatencySeries? _session;
    private long _received;

    // When the handler of the first collected message started, and when that of the last one ended.
    private long _began;
    private long _last;
    private int _count;

    // Messages since the last reading, and whether the messages before it were short. The first message of a burst always has a reading.
    private int _unread;
    private bool _isShort;

    /// <summary>The latest clock reading after a message or other work; before the first message, when the burst began.</summary>
    public long LastReading => _last;

    /// <summary>Takes this thread's instance; a burst within a burst gets another instance.</summary>
    /// <param name="received">When the burst's bytes were in memory, in nanoseconds of the monotonic clock.</param>
    /// <param name="now">The clock's reading: when the first handler can start.</param>
    /// <param name="session">The session's series; null if there is none.</param>
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
    /// Adds a message of this series, which was handled just now, without a clock reading. False if it needs a reading: call
    /// <see cref="Add"/>.
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

    /// <summary>Adds a message of this series, which was handled just now.</summary>
    /// <param name="series">The series of the message type.</param>
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

    /// <summary>Other work begins on this thread, which does not count for the messages so far; they are recorded.</summary>
    /// <param name="now">The clock's reading.</param>
    public void Interrupt(long now)
    {
        if (_unread != 0)
        {
            _unread--;
            Add(_series!, now);
        }

        Flush();
    }

    /// <summary>The other work has ended: the next message begins now.</summary>
    /// <param name="now">The clock's reading.</param>
    public void Resume(long now) => _began = _last = now;

    /// <summary>Records the collected messages and releases the instance.</summary>
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
