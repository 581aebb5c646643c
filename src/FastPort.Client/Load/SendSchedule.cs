namespace FastPort.Client.Load;

/// <summary>
/// The due times of one connection's messages in an open loop: fixed intervals from the start of the run, independent of the server. All
/// connections share the rate equally, each with an offset to the next, so that the messages of the whole run are evenly spaced. Not
/// thread-safe.
/// </summary>
/// <param name="rate">Messages per second over all connections.</param>
/// <param name="connections">Connections that share the rate.</param>
/// <param name="index">This connection's number, from 0.</param>
internal sealed class SendSchedule(double rate, int connections, int index)
{
    private readonly double _interval = 1e9 / rate;
    private long _start;
    private long _taken;

    /// <summary>Sets the start of the schedule, on the monotonic clock in nanoseconds.</summary>
    public void Begin(long startNanoseconds) => _start = startNanoseconds;

    /// <summary>When the next message is due, on the monotonic clock in nanoseconds.</summary>
    public long NextDue => DueAt(_taken);

    /// <summary>Messages taken so far.</summary>
    public long Taken => _taken;

    /// <summary>Takes the next message if it is due.</summary>
    public bool TryTake(long nowNanoseconds, out long due)
    {
        due = NextDue;
        if (due > nowNanoseconds)
        {
            return false;
        }

        _taken++;
        return true;
    }

    /// <summary>Discards all messages that are due before a moment.</summary>
    public void SkipBefore(long nanoseconds) => _taken = Math.Max(_taken, CountBefore(nanoseconds));

    /// <summary>Number of messages that were due within [from, to) and were not taken.</summary>
    public long CountMissed(long fromNanoseconds, long toNanoseconds) =>
        Math.Max(0, CountBefore(toNanoseconds) - Math.Max(_taken, CountBefore(fromNanoseconds)));

    /// <summary>Number of messages due before a moment, taken or not.</summary>
    public long CountBefore(long nanoseconds)
    {
        long count = Math.Max(0, (long)Math.Floor(((nanoseconds - _start) / _interval - index) / connections));

        // The estimate differs from the exact count only by rounding.
        while (count > 0 && DueAt(count - 1) >= nanoseconds)
        {
            count--;
        }

        while (DueAt(count) < nanoseconds)
        {
            count++;
        }

        return count;
    }

    /// <summary>When a message is due, on the monotonic clock in nanoseconds.</summary>
    /// <param name="number">The message's number, from 0.</param>
    public long DueAt(long number) => _start + (long)((((double)number * connections) + index) * _interval);
}
