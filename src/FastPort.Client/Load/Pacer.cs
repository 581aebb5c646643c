namespace FastPort.Client.Load;

/// <summary>
/// Sends due requests in an open loop, on its own thread: the runtime's timers are too coarse, and a pool thread would compete with the
/// sessions' loops. It visits only lanes that have a request due, so its work grows with the rate, not with the connections.
/// </summary>
internal sealed class Pacer : IDisposable
{
    // Longest pause in nanoseconds, so that the thread sees the end of the run.
    private const long LongestPause = 10_000_000;

    private readonly EchoLane[] _lanes;
    private readonly Thread _thread;

    // Of all lanes together: its message k is one of lane k modulo their number.
    private readonly SendSchedule _schedule;
    private long _visited;
    private volatile bool _stopped;

    /// <param name="schedule">The messages of all lanes together.</param>
    /// <param name="lanes">The lanes; lane i has a <see cref="SendSchedule"/> of the same rate and start with number i.</param>
    public Pacer(SendSchedule schedule, EchoLane[] lanes)
    {
        _lanes = lanes;
        _schedule = schedule;
        _thread = new Thread(Run) { IsBackground = true, Name = "FastPort pacer" };
    }

    public void Start() => _thread.Start();

    public void Dispose()
    {
        _stopped = true;
        if (_thread.IsAlive)
        {
            _thread.Join();
        }
    }

    /// <summary>Visits the lanes of the requests that have become due; each sends all that it has due.</summary>
    /// <param name="nowNanoseconds">The current time.</param>
    /// <returns>When the next request is due.</returns>
    internal long SendDue(long nowNanoseconds)
    {
        long due = _schedule.CountBefore(nowNanoseconds + 1);
        for (long number = Math.Max(_visited, due - _lanes.Length); number < due; number++)
        {
            _lanes[number % _lanes.Length].SendDue();
        }

        _visited = due;
        return _schedule.DueAt(due);
    }

    private void Run()
    {
        using var precise = new PrecisePause();
        while (!_stopped)
        {
            long next = SendDue(MonotonicClock.Nanoseconds);
            long pause = Math.Min(next - MonotonicClock.Nanoseconds, LongestPause);
            if (pause > 0)
            {
                precise.Wait(pause);
            }
        }
    }
}
