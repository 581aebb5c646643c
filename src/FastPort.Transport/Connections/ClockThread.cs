using System.Diagnostics;

namespace FastPort.Connections;

/// <summary>
/// A thread that ticks clocks, one after the other. All clocks of system time in a process share <see cref="Shared"/>. A timer would tick
/// on the thread pool and wake a worker, which then spins for more work: this was most of the CPU time of an idle server, and on one core
/// it delayed the loop. The thread runs while there are clocks.
/// <para>
/// <see cref="_gate"/> guards all fields; no tick runs under it, so a clock may tick once more while another thread removes it. A tick must
/// not block: it delays the deadlines of all servers and clients of the process.
/// </para>
/// </summary>
internal sealed class ClockThread
{
    // An object and not a Lock, because the thread waits on it with Monitor.Wait.
    private readonly object _gate = new();

    // Replaced, never modified: the thread iterates over it outside the lock.
    private ConnectionClock[] _clocks = [];

    // Calls of PostAfter by their due time, in stopwatch ticks.
    private readonly PriorityQueue<(Connection? Connection, Action<object?> Callback, object? State), long> _calls = new();
    private bool _isRunning;

    /// <summary>The process's instance.</summary>
    public static ClockThread Shared { get; } = new();

    /// <summary>Whether the thread runs.</summary>
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

    /// <summary>
    /// Adds a clock. The thread ticks it every <see cref="ConnectionClock.Period"/>, for the first time within one period.
    /// </summary>
    public void Add(ConnectionClock clock)
    {
        lock (_gate)
        {
            if (!_isRunning)
            {
                // UnsafeStart: the caller's execution context must not flow into the ticks of other clocks.
                new Thread(Run) { IsBackground = true, Name = "FastPort clock" }.UnsafeStart();
                _isRunning = true;
            }

            _clocks = [.. _clocks, clock];
        }
    }

    /// <summary>Posts a callback to a connection after a delay; without a connection the clock's thread calls it, under the lock.</summary>
    public void PostAfter(TimeSpan delay, Connection? connection, Action<object?> callback, object? state)
    {
        // At most 68 years, as the sum must not overflow.
        long due = Stopwatch.GetTimestamp() + (long)(Math.Min(delay.TotalSeconds, int.MaxValue) * Stopwatch.Frequency);
        lock (_gate)
        {
            if (_clocks.Length == 0)
            {
                // Its clock is gone: the next one's thread must not make the call, nor keep it until then.
                return;
            }

            _calls.Enqueue((connection, callback, state), due);
            if (_calls.TryPeek(out _, out long first) && first == due)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    /// <summary>Removes a clock. A tick that has begun still ends. Ignored if the clock was not added.</summary>
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

    // Called under the lock. Posts the calls that are due and returns the milliseconds until the next one. Posting only queues a call for
    // the connection's loop; no code of the connection runs here. A call without a connection only queues work as well.
    private int PostDue()
    {
        Debug.Assert(Monitor.IsEntered(_gate));
        while (_calls.TryPeek(out (Connection? Connection, Action<object?> Callback, object? State) call, out long due))
        {
            long left = due - Stopwatch.GetTimestamp();
            if (left > 0)
            {
                return (int)Math.Min(Math.Ceiling(left * 1e3 / Stopwatch.Frequency), int.MaxValue);
            }

            _calls.Dequeue();
            ConnectionClock.Call(call.Connection, call.Callback, call.State);
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
                // Missed ticks (the process was suspended, or a tick took long) are skipped: one tick handles everything that is due. The
                // next one comes a whole period later, so that the loops have their time in between.
                long now = Environment.TickCount64;
                long period = (long)ConnectionClock.Period.TotalMilliseconds;
                next = next + period >= now ? next + period : now + period;
                for (; _clocks.Length != 0 && now < next; now = Environment.TickCount64)
                {
                    Monitor.Wait(_gate, Math.Min((int)(next - now), PostDue()));
                }

                // Also if ticks take so long that there was no time to wait.
                PostDue();
                if (_clocks.Length == 0)
                {
                    // There is no clock left to call.
                    _calls.Clear();
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
