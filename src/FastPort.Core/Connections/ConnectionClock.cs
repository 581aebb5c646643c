using System.Collections.Concurrent;

namespace FastPort.Connections;

/// <summary>
/// One coarse clock for all deadlines of a server or client: a single timer that asks every connection in turn, instead of timers per
/// connection. Deadlines are therefore met within one period after they pass. Thread-safe.
/// </summary>
public sealed class ConnectionClock : IDisposable
{
    /// <summary>How often the clock ticks: 100 ms.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromMilliseconds(100);

    private readonly TimeProvider _time;
    private readonly long _origin;
    private readonly ConcurrentDictionary<long, Connection> _connections = new();
    private readonly ITimer _timer;
    private long _now;
    private int _ticking;

    /// <summary>Creates the clock and starts its timer.</summary>
    /// <param name="time">Source of time. Defaults to the system's.</param>
    public ConnectionClock(TimeProvider? time = null)
    {
        _time = time ?? TimeProvider.System;
        _origin = _time.GetTimestamp();
        _timer = _time.CreateTimer(static state => ((ConnectionClock)state!).Tick(), this, Period, Period);
    }

    /// <summary>The source of time behind the clock.</summary>
    public TimeProvider Time => _time;

    /// <summary>Milliseconds since the clock was made, as of its last tick.</summary>
    public long NowMilliseconds => Volatile.Read(ref _now);

    /// <summary>Milliseconds since the clock was made, read now.</summary>
    public long PreciseMilliseconds => (long)_time.GetElapsedTime(_origin).TotalMilliseconds;

    internal void Add(Connection connection) => _connections[connection.Id] = connection;

    internal void Remove(Connection connection) => _connections.TryRemove(connection.Id, out _);

    /// <summary>Stops the timer. Connections that still live have no deadlines any more.</summary>
    public void Dispose() => _timer.Dispose();

    private void Tick()
    {
        // A tick that outlasts its period is not run twice at the same time; the next one sees the newer time.
        if (Interlocked.Exchange(ref _ticking, 1) != 0)
        {
            return;
        }

        try
        {
            long now = PreciseMilliseconds;
            Volatile.Write(ref _now, now);
            foreach (KeyValuePair<long, Connection> pair in _connections)
            {
                pair.Value.Tick(now);
            }
        }
        finally
        {
            Volatile.Write(ref _ticking, 0);
        }
    }
}
