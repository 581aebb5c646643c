namespace FastPort.Tests.Support;

/// <summary>
/// Time that stands still until a test moves it. Timers fire on the thread that calls <see cref="Advance"/>, in the order they are due.
/// </summary>
internal sealed class FakeTimeProvider : TimeProvider
{
    // Guards the fields below; no timer fires under it.
    private readonly Lock _lock = new();
    private readonly List<FakeTimer> _timers = [];
    private long _now;

    /// <summary>Called after each timer, before time moves on: for what a timer has others do.</summary>
    public Action? Fired { get; set; }

    /// <summary>How far the wall clock is ahead: a machine that was suspended, or whose clock was set.</summary>
    public TimeSpan WallClockStep { get; set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public TimeSpan Elapsed => TimeSpan.FromTicks(GetTimestamp());

    public override long GetTimestamp()
    {
        lock (_lock)
        {
            return _now;
        }
    }

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddTicks(GetTimestamp()) + WallClockStep;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new FakeTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Whether a timer runs that fires again and again with this period.</summary>
    public bool IsRunning(TimeSpan period)
    {
        lock (_lock)
        {
            return _timers.Exists(t => t.Period == period.Ticks);
        }
    }

    /// <summary>Moves time on, stopping at every timer that is due on the way.</summary>
    public void Advance(TimeSpan by)
    {
        long end = GetTimestamp() + by.Ticks;
        while (NextDue(end) is { } timer)
        {
            timer.Fire();
            Fired?.Invoke();
        }
    }

    /// <summary>Moves time on in one leap, as after a suspended process: a timer due more than once on the way fires once.</summary>
    public void Leap(TimeSpan by)
    {
        lock (_lock)
        {
            _now += by.Ticks;
        }

        Advance(TimeSpan.Zero);
    }

    private FakeTimer? NextDue(long end)
    {
        lock (_lock)
        {
            FakeTimer? next = _timers.Where(t => t.Due <= end).MinBy(static t => t.Due);
            if (next is null)
            {
                _now = Math.Max(_now, end);
                return null;
            }

            _now = Math.Max(_now, next.Due);
            if (next.Period > 0)
            {
                next.Due = Math.Max(next.Due + next.Period, _now + 1);
            }
            else
            {
                _timers.Remove(next);
            }

            return next;
        }
    }

    private sealed class FakeTimer(FakeTimeProvider time, TimerCallback callback, object? state) : ITimer
    {
        public long Due { get; set; }

        public long Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._lock)
            {
                time._timers.Remove(this);
                Period = period.Ticks;
                if (dueTime >= TimeSpan.Zero)
                {
                    Due = time._now + dueTime.Ticks;
                    time._timers.Add(this);
                }

                return true;
            }
        }

        public void Dispose()
        {
            lock (time._lock)
            {
                time._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
