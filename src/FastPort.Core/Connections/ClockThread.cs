using System.Diagnostics;

namespace FastPort.Connections;

/// <summary>
/// A thread that ticks clocks, one after the other; all those of system time in a process share <see cref="Shared"/>. A timer would tick on
/// the thread pool and wake a worker each time, which then looks for more work for a while: most of what an idle server cost, and on one
/// core a disturbance of the loop. The thread lives while there are clocks.
/// <para>
/// <see cref="_gate"/> guards everything; no tick runs under it, so a clock may be ticked once more while it is being removed. A tick must
/// not block: the deadlines of all servers and clients of the process wait behind it.
/// </para>
/// </summary>
internal sealed class ClockThread
{
    // Waited on as well, which a Lock cannot be.
    private readonly object _gate = new();

    // Replaced, never changed: the thread walks through it outside the lock.
    private ConnectionClock[] _clocks = [];

    // Calls that connections wait for, by the stopwatch's time.
    private readonly PriorityQueue<(Connection Connection, Action<object?> Callback, object? State), long> _calls = new();
    private bool _isRunning;

    /// <summary>The process's.</summary>
    public static ClockThread Shared { get; } = new();

    /// <summary>Whether there is a thread at present.</summary>
    public bool IsRunning
    {
        get
        {
            lock (_gate)
            {
                return _isRunning;
            }
        }
    }

    /// <summary>Ticks the clock from now on, every <see cref="ConnectionClock.Period"/>; the first time within one.</summary>
    public void Add(ConnectionClock clock)
    {
        lock (_gate)
        {
            if (!_isRunning)
            {
                // It is the thread of nobody in particular: what the caller has in its execution context is not for the ticks of others.
                new Thread(Run) { IsBackground = true, Name = "FastPort clock" }.UnsafeStart();
                _isRunning = true;
            }

            _clocks = [.. _clocks, clock];
        }
    }

    /// <summary>Posts a callback to a connection after a delay.</summary>
    public void PostAfter(TimeSpan delay, Connection connection, Action<object?> callback, object? state)
    {
        long due = Stopwatch.GetTimestamp() + (long)(delay.TotalSeconds * Stopwatch.Frequency);
        lock (_gate)
        {
            _calls.Enqueue((connection, callback, state), due);
            if (_calls.TryPeek(out _, out long first) && first == due)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    /// <summary>Ticks the clock no more, but for a tick that has begun. Nothing where it is not there.</summary>
    public void Remove(ConnectionClock clock)
    {
        lock (_gate)
        {
            _clocks = [.. _clocks.Where(c => c != clock)];
            if (_clocks.Length == 0)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    // Under the lock. Posts what has become due, and tells in how many milliseconds the next call is; posting is handing over, nothing of
    // the connection's runs here.
    private int PostDue()
    {
        while (_calls.TryPeek(out (Connection Connection, Action<object?> Callback, object? State) call, out long due))
        {
            long left = due - Stopwatch.GetTimestamp();
            if (left > 0)
            {
                return (int)Math.Min(Math.Ceiling(left * 1e3 / Stopwatch.Frequency), int.MaxValue);
            }

            _calls.Dequeue();
            call.Connection.Post(call.Callback, call.State);
        }

        return int.MaxValue;
    }

    private void Run()
    {
        long next = Environment.TickCount64;
        while (true)
        {
            ConnectionClock[] clocks;
            lock (_gate)
            {
                // Ticks that were missed, as the process was suspended or a tick took long, are not made up for: one sees all that has
                // become due.
                long now = Environment.TickCount64;
                next = Math.Max(next + (long)ConnectionClock.Period.TotalMilliseconds, now);
                for (; _clocks.Length != 0 && now < next; now = Environment.TickCount64)
                {
                    Monitor.Wait(_gate, Math.Min((int)(next - now), PostDue()));
                }

                if (_clocks.Length == 0)
                {
                    _isRunning = false;
                    return;
                }

                clocks = _clocks;
            }

            foreach (ConnectionClock clock in clocks)
            {
                clock.Tick();
            }
        }
    }
}
