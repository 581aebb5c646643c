namespace FastPort.Client.Load;

/// <summary>
/// Sends due requests in an open loop, on its own thread: the runtime's timers are too coarse, and a pool thread would compete with the
/// sessions' loops.
/// </summary>
internal sealed class Pacer : IDisposable
{
    // Longest pause in nanoseconds, so that the thread sees the end of the run.
    private const long LongestPause = 10_000_000;

    private readonly EchoLane[] _lanes;
    private readonly Thread _thread;
    private volatile bool _stopped;

    public Pacer(EchoLane[] lanes)
    {
        _lanes = lanes;
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

    private void Run()
    {
        using var precise = new PrecisePause();
        while (!_stopped)
        {
            long next = long.MaxValue;
            long now = LoadClock.Nanoseconds;
            foreach (EchoLane lane in _lanes)
            {
                next = Math.Min(next, lane.SendDue(now));
            }

            long pause = Math.Min(next - LoadClock.Nanoseconds, LongestPause);
            if (pause > 0)
            {
                precise.Wait(pause);
            }
        }
    }
}
