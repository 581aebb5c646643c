namespace FastPort.Connections;

/// <summary>
/// One coarse clock for all deadlines of a server or client instead of timers per connection. A tick visits the connections that have asked
/// for it since the last one (<see cref="Connection.RequestTick"/>) and those whose next deadline has come, as they told at their last
/// visit. Deadlines are therefore met within one period after they pass, and an idle connection costs nothing in between. Thread-safe.
/// </summary>
public sealed class ConnectionClock : IDisposable
{
    /// <summary>How often the clock ticks: 100 ms.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromMilliseconds(100);

    /// <summary>In answer to a tick: again at the next one.</summary>
    public const long NextTick = 0;

    /// <summary>In answer to a tick: not before <see cref="Connection.RequestTick"/> asks for one.</summary>
    public const long Never = long.MaxValue;

    private readonly TimeProvider _time;
    private readonly long _origin;
    private readonly ITimer? _timer;
    private long _now;
    private int _ticking;

    // Guards what follows, except that a tick reads the array: it is replaced, and grows only, so a connection never changes its place.
    private readonly Lock _gate = new();
    private ClockChunk[] _chunks = [];
    private ClockChunk? _withRoom;
    private List<(long Due, Action Call)>? _calls;

    // No call is due earlier. Written under the lock, looked at by every tick.
    private long _nextCall = Never;

    /// <summary>Creates the clock and starts it.</summary>
    /// <param name="time">
    /// Source of time. Defaults to the system's, of which all clocks tick on one thread of the process; any other has its own timer.
    /// </param>
    public ConnectionClock(TimeProvider? time = null)
    {
        _time = time ?? TimeProvider.System;
        _origin = _time.GetTimestamp();
        if (ReferenceEquals(_time, TimeProvider.System))
        {
            ClockThread.Shared.Add(this);
        }
        else
        {
            _timer = _time.CreateTimer(static state => ((ConnectionClock)state!).Tick(), this, Period, Period);
        }
    }

    /// <summary>The source of time behind the clock.</summary>
    public TimeProvider Time => _time;

    /// <summary>Milliseconds since the clock was made, as of its last tick.</summary>
    public long NowMilliseconds => Volatile.Read(ref _now);

    /// <summary>Milliseconds since the clock was made, read now.</summary>
    public long PreciseMilliseconds => (long)_time.GetElapsedTime(_origin).TotalMilliseconds;

    /// <summary>Takes a connection in, once; it is visited by the next tick. For transports, once the connection has its
    /// protocol.</summary>
    /// <param name="connection">The connection.</param>
    public void Add(Connection connection)
    {
        lock (_gate)
        {
            if (_withRoom is null)
            {
                _withRoom = new ClockChunk();
                Volatile.Write(ref _chunks, [.. _chunks, _withRoom]);
            }

            _withRoom.Add(connection);
            if (_withRoom.IsFull)
            {
                _withRoom = _withRoom.NextWithRoom;
            }
        }
    }

    /// <summary>Forgets a connection, also one that was never added. A tick that runs meanwhile may still visit it once.</summary>
    /// <param name="connection">The connection.</param>
    public void Remove(Connection connection)
    {
        lock (_gate)
        {
            if (connection.LeaveClock(out int slot) is not { } chunk)
            {
                return;
            }

            if (chunk.IsFull)
            {
                chunk.NextWithRoom = _withRoom;
                _withRoom = chunk;
            }

            chunk.Remove(slot);
        }
    }

    /// <summary>
    /// Calls once, at the first tick after a delay, unless the clock is stopped before. For what must work where the process can start no
    /// more threads, which a timer may need; rarely used. The call must neither block nor throw.
    /// </summary>
    internal void CallLater(TimeSpan delay, Action call)
    {
        lock (_gate)
        {
            long due = PreciseMilliseconds + (long)Math.Ceiling(delay.TotalMilliseconds);
            (_calls ??= []).Add((due, call));
            Volatile.Write(ref _nextCall, Math.Min(_nextCall, due));
        }
    }

    /// <summary>Posts a callback to a connection after a delay, within about a millisecond.</summary>
    internal void PostAfter(TimeSpan delay, Connection connection, Action<object?> callback, object? state)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(delay, TimeSpan.Zero);
        if (_timer is null)
        {
            ClockThread.Shared.PostAfter(delay, connection, callback, state);
            return;
        }

        var timer = new TimerOfProvider(connection, callback, state);
        timer.Start(_time, delay);
    }

    /// <summary>Stops the clock. Connections that still live have no deadlines any more.</summary>
    public void Dispose()
    {
        if (_timer is null)
        {
            ClockThread.Shared.Remove(this);
        }
        else
        {
            _timer.Dispose();
        }
    }

    /// <summary>One tick. By <see cref="ClockThread"/>, or by the timer of a <see cref="TimeProvider"/> of one's own.</summary>
    internal void Tick()
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
            ClockChunk[] chunks = Volatile.Read(ref _chunks);
            bool requested = false;
            foreach (ClockChunk chunk in chunks)
            {
                requested |= chunk.TakeRequests();
            }

            if (requested)
            {
                // Whoever found its request made already, before it was taken here, has made its change before that look: after this fence
                // of all threads the change is seen. Some microseconds here save a fence in every flush.
                Interlocked.MemoryBarrierProcessWide();
            }

            foreach (ClockChunk chunk in chunks)
            {
                chunk.Visit(now);
            }

            if (now >= Volatile.Read(ref _nextCall))
            {
                Call(now);
            }
        }
        finally
        {
            Volatile.Write(ref _ticking, 0);
        }
    }

    private void Call(long now)
    {
        (long Due, Action Call)[] due;
        lock (_gate)
        {
            due = [.. _calls!.Where(c => c.Due <= now)];
            _calls!.RemoveAll(c => c.Due <= now);
            _nextCall = _calls.Count == 0 ? Never : _calls.Min(static c => c.Due);
        }

        foreach ((_, Action call) in due)
        {
            call();
        }
    }

    // One call, by a source of time of the program's own.
    private sealed class TimerOfProvider(Connection connection, Action<object?> callback, object? state)
    {
        private ITimer? _timer;

        public void Start(TimeProvider time, TimeSpan delay)
        {
            _timer = time.CreateTimer(
                static timer => ((TimerOfProvider)timer!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _timer.Change(delay, Timeout.InfiniteTimeSpan);
        }

        private void Fire()
        {
            connection.Post(callback, state);
            _timer!.Dispose();
        }
    }
}
