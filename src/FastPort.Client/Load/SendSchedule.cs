namespace FastPort.Client.Load;

/// <summary>
/// When the messages of one connection are due in an open loop: a fixed grid laid out before the run, whatever the server does. All
/// connections share the rate evenly, each shifted against the next, so that messages of the whole run are evenly spaced. Not thread-safe.
/// </summary>
/// <param name="rate">Messages per second over all connections.</param>
/// <param name="connections">Connections that share the rate.</param>
/// <param name="index">This connection's number, from 0.</param>
internal sealed class SendSchedule(double rate, int connections, int index)
{
    private readonly double _interval = 1e9 / rate;
    private long _start;
    private long _taken;

    /// <summary>Lays the grid out from the moment the run begins, on the monotonic clock in nanoseconds.</summary>
    public void Begin(long startNanoseconds) => _start = startNanoseconds;

    /// <summary>When the next message that was not taken yet is due, on the monotonic clock in nanoseconds.</summary>
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

    /// <summary>Messages that were due within [from, to) and have not been taken.</summary>
    public long CountMissed(long fromNanoseconds, long toNanoseconds) =>
        Math.Max(0, CountBefore(toNanoseconds) - Math.Max(_taken, CountBefore(fromNanoseconds)));

    /// <summary>Messages due before a moment, taken or not.</summary>
    public long CountBefore(long nanoseconds)
    {
        long count = Math.Max(0, (long)Math.Floor(((nanoseconds - _start) / _interval - index) / connections));

        // The estimate is within rounding of the exact count.
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

    private long DueAt(long number) => _start + (long)((((double)number * connections) + index) * _interval);
}
