namespace FastPort.OpcUa.Server;

/// <summary>
/// A timer with a fixed rate. Missed cycles are skipped. Its members are used under one lock; only <c>onDue</c> is called on a timer's
/// thread, without it.
/// </summary>
internal sealed class CycleTimer : IDisposable
{
    private readonly TimeProvider _time;
    private readonly ITimer _timer;

    // Timers count whole milliseconds, so a call may come this much early.
    private readonly long _early;
    private long _interval;
    private long _due;
    private bool _hasMore;

    /// <param name="time">The server's time.</param>
    /// <param name="onDue">Takes the lock and calls <see cref="Run"/>, as its only caller. Must not throw.</param>
    public CycleTimer(TimeProvider time, Action onDue)
    {
        _time = time;
        _early = time.TimestampFrequency / 1000;
        _timer = NoContext.CreateTimer(
            time, static due => ((Action)due!)(), onDue, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Starts or restarts: the first call comes after one interval.</summary>
    public void Start(TimeSpan interval)
    {
        _interval = Math.Max((long)(interval.TotalSeconds * _time.TimestampFrequency), 1);
        _due = _time.GetTimestamp() + _interval;
        Arm();
    }

    public void Stop()
    {
        _interval = 0;
        _hasMore = false;
    }

    /// <summary>Calls back with the current time, which is never before the due time, unless it was stopped in the meantime.</summary>
    /// <param name="action">Returns whether it has more to do: then it is called again soon, after others have had the lock.</param>
    public void Run(Func<long, bool> action)
    {
        if (_interval == 0)
        {
            return;
        }

        long now = _time.GetTimestamp();
        if (!_hasMore)
        {
            if (_due - now > _early)
            {
                // It was restarted while this call waited for the lock.
                Arm();
                return;
            }

            // One shot each: a cycle that takes longer than the interval is not overtaken by the next one.
            now = Math.Max(now, _due);
            _due += (((now - _due) / _interval) + 1) * _interval;
        }

        _hasMore = false;
        try
        {
            _hasMore = action(now);
        }
        finally
        {
            if (_interval != 0)
            {
                Arm();
            }
        }
    }

    public void Dispose()
    {
        Stop();
        _timer.Dispose();
    }

    private void Arm()
    {
        long now = _time.GetTimestamp();
        _timer.Change(now < _due && !_hasMore ? _time.GetElapsedTime(now, _due) : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }
}
