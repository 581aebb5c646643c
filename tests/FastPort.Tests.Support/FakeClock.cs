namespace FastPort.Tests.Support;

/// <summary>A clock that moves when told; timers fire within <see cref="Advance"/>.</summary>
internal sealed class FakeClock : TimeProvider
{
    private readonly Lock _lock = new();
    private readonly List<FakeTimer> _timers = [];
    private DateTimeOffset _now = new(2026, 3, 4, 5, 6, 7, TimeSpan.Zero);
    private TimeSpan _set;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override TimeZoneInfo LocalTimeZone { get; } = TimeZoneInfo.CreateCustomTimeZone("two", TimeSpan.FromHours(2), "two", "two");

    /// <summary>Number of timers that were not disposed.</summary>
    public int Timers
    {
        get
        {
            lock (_lock)
            {
                return _timers.Count;
            }
        }
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_lock)
        {
            return _now + _set;
        }
    }

    public override long GetTimestamp()
    {
        lock (_lock)
        {
            return _now.Ticks;
        }
    }

    /// <summary>Sets the wall clock forward or back. The timestamp and the timers go on.</summary>
    public void SetUtc(TimeSpan by)
    {
        lock (_lock)
        {
            _set += by;
        }
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new FakeTimer(this, () => callback(state));
        timer.Change(dueTime, period);
        lock (_lock)
        {
            _timers.Add(timer);
        }

        return timer;
    }

    public void Advance(TimeSpan by)
    {
        List<FakeTimer> due;
        lock (_lock)
        {
            _now += by;
            due = _timers.FindAll(timer => timer.TakeIfDue(_now));
        }

        foreach (var timer in due)
        {
            timer.Fire();
        }
    }

    private sealed class FakeTimer(FakeClock clock, Action fire) : ITimer
    {
        private DateTimeOffset _due = DateTimeOffset.MaxValue;
        private TimeSpan _period;

        public void Fire() => fire();

        public bool TakeIfDue(DateTimeOffset now)
        {
            if (_due > now)
            {
                return false;
            }

            _due = _period > TimeSpan.Zero ? now + _period : DateTimeOffset.MaxValue;
            return true;
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._lock)
            {
                _due = dueTime < TimeSpan.Zero ? DateTimeOffset.MaxValue : clock._now + dueTime;
                _period = period;
                return true;
            }
        }

        public void Dispose()
        {
            lock (clock._lock)
            {
                clock._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
