namespace FastPort.Core.Tests.Clients;

/// <summary>Time that passes only when told. Timers fire on the thread that advances, in the order they are due. Thread-safe.</summary>
internal sealed class ManualTime : TimeProvider
{
    // Guards everything below; no callback is run under it.
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private readonly List<TimeSpan> _dueTimes = [];
    private long _ticks;

    /// <summary>Called after each timer, before time moves on: for what a timer has others do.</summary>
    public Action? Fired { get; set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Timers that are armed.</summary>
    public int ActiveTimers
    {
        get
        {
            lock (_gate)
            {
                return _timers.Count(static t => t.Due != long.MaxValue);
            }
        }
    }

    public override long GetTimestamp()
    {
        lock (_gate)
        {
            return _ticks;
        }
    }

    public override DateTimeOffset GetUtcNow() =>
        new(GetTimestamp() + new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks, TimeSpan.Zero);

    /// <summary>Whether a timer was ever armed with a due time in this range.</summary>
    public bool WasArmed(TimeSpan from, TimeSpan to)
    {
        lock (_gate)
        {
            return _dueTimes.Exists(d => d >= from && d <= to);
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    public void Advance(TimeSpan by)
    {
        long end = GetTimestamp() + by.Ticks;
        while (true)
        {
            ManualTimer? next;
            lock (_gate)
            {
                next = _timers.Where(t => t.Due <= end).MinBy(static t => t.Due);
                if (next is null)
                {
                    _ticks = end;
                    return;
                }

                _ticks = Math.Max(_ticks, next.Due);
                next.Due = next.Period > TimeSpan.Zero ? next.Due + next.Period.Ticks : long.MaxValue;
            }

            next.Fire();
            Fired?.Invoke();
        }
    }

    private sealed class ManualTimer(ManualTime time, TimerCallback callback, object? state) : ITimer
    {
        public long Due { get; set; } = long.MaxValue;

        public TimeSpan Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._gate)
            {
                time._timers.Remove(this);
                time._timers.Add(this);
                Period = period;
                Due = dueTime == Timeout.InfiniteTimeSpan ? long.MaxValue : time._ticks + dueTime.Ticks;
                time._dueTimes.Add(dueTime);
            }

            return true;
        }

        public void Dispose()
        {
            lock (time._gate)
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
