namespace FastPort.Connections;

/// <summary>
/// One coarse clock for all deadlines of a server or client, instead of timers per connection. A tick visits the connections that have
/// requested it since the last tick (<see cref="Connection.RequestTick"/>) and those whose next deadline, returned at their last visit, has
/// passed. A deadline is therefore handled within one period after it passes, and an idle connection costs nothing in between. Thread-safe.
/// <para>
/// The clock measures time in which the process ran. A tick that comes more than a second after the one before, as when the process was
/// stopped or its machine suspended, counts as one period and visits no connection: the bytes that peers sent in the meantime are read
/// before the next tick checks for silent peers.
/// </para>
/// </summary>
public sealed class ConnectionClock : IDisposable
{
    /// <summary>How often the clock ticks: 100 ms.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromMilliseconds(100);

    /// <summary>Return value of a tick: visit again at the next tick.</summary>
    public const long NextTick = 0;

    /// <summary>Return value of a tick: visit again only after <see cref="Connection.RequestTick"/>.</summary>
    public const long Never = long.MaxValue;

    private readonly TimeProvider _time;
    // A tick this late after the previous one shows that the process did not run: it was stopped, or its machine was.
    private const long LongestStep = 1_000;

    private readonly long _origin;
    private readonly ITimer? _timer;
    private long _now;

    // Milliseconds that do not count, because the process did not run.
    private long _lost;
    private bool _leapt;
    private int _ticking;

    // Guards the fields below, except that a tick reads the array without it. The array is replaced, never modified, and only grows: a
    // connection keeps its place.
    private readonly Lock _gate = new();
    private ClockChunk[] _chunks = [];
    private ClockChunk? _withRoom;

    /// <summary>Creates the clock and starts it.</summary>
    /// <param name="time">
    /// Source of time. Defaults to the system's; all clocks of system time tick on one thread of the process. A clock of another source has
    /// its own timer.
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
            _timer = NoContext.CreateTimer(_time, static state => ((ConnectionClock)state!).Tick(), this, Period, Period);
        }
    }

    /// <summary>The clock's source of time.</summary>
    public TimeProvider Time => _time;

    /// <summary>Milliseconds of counted time since the clock was created, as of its last tick.</summary>
    public long NowMilliseconds => Volatile.Read(ref _now);

    /// <summary>Milliseconds of counted time since the clock was created, read now. At most a second after the last tick.</summary>
    public long PreciseMilliseconds => Math.Min(Elapsed - Volatile.Read(ref _lost), Volatile.Read(ref _now) + LongestStep);

    private long Elapsed => (long)_time.GetElapsedTime(_origin).TotalMilliseconds;

    /// <summary>
    /// Adds a connection, which the next tick visits. A transport calls it once per connection, after the protocol is set.
    /// </summary>
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

    /// <summary>Removes a connection; ignored if it was not added. A tick that runs at the same time may still visit it once.</summary>
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
    /// Calls once, after a delay, unless no clock of the process is left by then. Rarely used: for work that must succeed when the process
    /// cannot start more threads, which a timer may need. The call must not block or throw.
    /// </summary>
    internal void CallLater(TimeSpan delay, Action call) => PostAfter(delay, null, static call => ((Action)call!)(), call);

    /// <summary>Posts a callback to a connection after a delay; see <see cref="Connection.PostAfter"/>.</summary>
    internal void PostAfter(TimeSpan delay, Connection? connection, Action<object?> callback, object? state)
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

    /// <summary>Makes a call that is due: on the connection's loop, or here if there is none.</summary>
    internal static void Call(Connection? connection, Action<object?> callback, object? state)
    {
        if (connection is null)
        {
            callback(state);
        }
        else
        {
            connection.Post(callback, state);
        }
    }

    /// <summary>Stops the clock. Open connections have no deadlines from then on.</summary>
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

    /// <summary>One tick. Called by <see cref="ClockThread"/>, or by the timer of another <see cref="TimeProvider"/>.</summary>
    internal void Tick()
    {
        // Two ticks never run at the same time: a tick that comes while one runs is skipped, and the next one reads the newer time.
        if (Interlocked.Exchange(ref _ticking, 1) != 0)
        {
            return;
        }

        try
        {
            long now = Elapsed - _lost;
            if (now - _now > LongestStep)
            {
                long step = (long)Period.TotalMilliseconds;
                Volatile.Write(ref _lost, _lost + now - _now - step);
                now = _now + step;

                // Never twice in a row: a process that hardly runs checks its deadlines late, but it does check them.
                _leapt = !_leapt;
            }
            else
            {
                _leapt = false;
            }

            Volatile.Write(ref _now, now);
            if (_leapt)
            {
                return;
            }

            ClockChunk[] chunks = Volatile.Read(ref _chunks);
            bool requested = false;
            foreach (ClockChunk chunk in chunks)
            {
                requested |= chunk.TakeRequests();
            }

            if (requested)
            {
                // A thread that found its request bit already set made its change before it read the bit. After this process-wide fence the
                // tick sees that change. The fence costs some microseconds here and saves a fence in every flush.
                Interlocked.MemoryBarrierProcessWide();
            }

            foreach (ClockChunk chunk in chunks)
            {
                chunk.Visit(now);
            }
        }
        finally
        {
            Volatile.Write(ref _ticking, 0);
        }
    }

    // One call of PostAfter on a time source other than the system's.
    private sealed class TimerOfProvider(Connection? connection, Action<object?> callback, object? state)
    {
        private ITimer? _timer;

        public void Start(TimeProvider time, TimeSpan delay)
        {
            _timer = NoContext.CreateTimer(
                time, static timer => ((TimerOfProvider)timer!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _timer.Change(delay, Timeout.InfiniteTimeSpan);
        }

        private void Fire()
        {
            Call(connection, callback, state);
            _timer!.Dispose();
        }
    }
}
