namespace FastPort.Client.Load;

/// <summary>
/// Counts the interruptions of an echo load: more than a second without a reply on any connection, while a request waited for one. Times
/// are readings of the monotonic clock in nanoseconds, and exact to 10 ms. Thread-safe: <see cref="_gate"/> guards the fields.
/// </summary>
internal sealed class Interruptions
{
    internal const long Shortest = 1_000_000_000;

    // Replies within this time of a noted one are not noted: loops read a shared field that is rarely written.
    private const long Precision = 10_000_000;

    private readonly Lock _gate = new();
    private SendSchedule? _schedule;
    private long _last = long.MaxValue;
    private long _count;
    private long _nanoseconds;

    /// <summary>How many there were.</summary>
    public long Count
    {
        get
        {
            lock (_gate)
            {
                return _count;
            }
        }
    }

    /// <summary>How long they lasted in all.</summary>
    public TimeSpan Time
    {
        get
        {
            lock (_gate)
            {
                return TimeSpan.FromMicroseconds(_nanoseconds / 1e3);
            }
        }
    }

    /// <summary>The measured time begins.</summary>
    /// <param name="nanoseconds">Its beginning.</param>
    /// <param name="schedule">When the requests of an open loop are due; null in the closed loop, where a request always waits.</param>
    public void Begin(long nanoseconds, SendSchedule? schedule)
    {
        lock (_gate)
        {
            _schedule = schedule;
            Volatile.Write(ref _last, nanoseconds);
        }
    }

    /// <summary>A reply has come.</summary>
    public void OnReply(long nanoseconds)
    {
        if (nanoseconds - Volatile.Read(ref _last) > Precision)
        {
            Note(nanoseconds);
        }
    }

    /// <summary>The measured time ends.</summary>
    public void End(long nanoseconds)
    {
        Note(nanoseconds);
        Volatile.Write(ref _last, long.MaxValue);
    }

    private void Note(long nanoseconds)
    {
        lock (_gate)
        {
            if (nanoseconds <= _last)
            {
                // Another loop has noted a later one.
                return;
            }

            // In an open loop nothing may have been due for a while.
            long waits = _schedule is { } schedule ? schedule.DueAt(schedule.CountBefore(_last)) : _last;
            long length = nanoseconds - waits;
            if (length > Shortest)
            {
                _count++;
                _nanoseconds += length;
            }

            Volatile.Write(ref _last, nanoseconds);
        }
    }
}
