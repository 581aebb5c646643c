using FastPort.Connections;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Calls back on the loop of a connection at a fixed rate. Cycles that were missed are left out. Belongs to that loop; ends with the
/// connection.
/// </summary>
/// <param name="time">The server's time.</param>
/// <param name="tick">Called with the present time, which is not before the time that was due. Must not throw.</param>
internal sealed class LoopTimer(TimeProvider time, Action<long> tick)
{
    private Run? _run;

    /// <summary>Starts, or starts anew: the first call comes after one interval.</summary>
    public void Start(Connection connection, TimeSpan interval)
    {
        _run = new Run(this, connection, Math.Max((long)(interval.TotalSeconds * time.TimestampFrequency), 1));
        _run.Post();
    }

    public void Stop() => _run = null;

    // A posted call cannot be taken back: one of an earlier run finds that it is not the present one.
    private sealed class Run(LoopTimer timer, Connection connection, long interval)
    {
        private readonly TimeProvider _time = timer.Time;
        private long _due = timer.Time.GetTimestamp() + interval;

        public void Post()
        {
            long now = _time.GetTimestamp();
            TimeSpan delay = now < _due ? _time.GetElapsedTime(now, _due) : TimeSpan.Zero;
            connection.PostAfter(delay, static run => ((Run)run!).OnDue(), this);
        }

        private void OnDue()
        {
            if (timer._run != this)
            {
                return;
            }

            long now = Math.Max(_time.GetTimestamp(), _due);
            _due += (((now - _due) / interval) + 1) * interval;
            timer.Tick(now);
            if (timer._run == this)
            {
                Post();
            }
        }
    }

    private TimeProvider Time => time;

    private void Tick(long now) => tick(now);
}
