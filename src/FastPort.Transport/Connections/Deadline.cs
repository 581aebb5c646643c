namespace FastPort.Connections;

/// <summary>
/// Cancels after a time. The timer of a <see cref="CancellationTokenSource"/> runs the callbacks on its token itself: an application
/// callback that throws would end the process, and one that blocks would delay the timers.
/// </summary>
internal sealed class Deadline : IDisposable
{
    private readonly CancellationTokenSource _source;
    private readonly TimeSpan _after;
    private readonly ConnectionClock _clock;
    private readonly long _since;
    private readonly ITimer _timer;

    /// <summary>Begins to wait. Disposal ends the wait.</summary>
    /// <param name="source">Canceled on the thread pool. Not disposed by its owner, as the timer may just be due.</param>
    /// <param name="after">The time; <see cref="Timeout.InfiniteTimeSpan"/> for never.</param>
    /// <param name="clock">Measures it: time in which the process did not run does not count against the peer.</param>
    public Deadline(CancellationTokenSource source, TimeSpan after, ConnectionClock clock)
    {
        _source = source;
        _after = after;
        _clock = clock;
        _since = clock.PreciseMilliseconds;
        _timer = clock.Time.CreateTimer(
            static state => ((Deadline)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _timer.Change(after, Timeout.InfiniteTimeSpan);
    }

    public void Dispose() => _timer.Dispose();

    private void OnTimer()
    {
        TimeSpan left = _after - TimeSpan.FromMilliseconds(_clock.PreciseMilliseconds - _since);
        if (left < TimeSpan.FromMilliseconds(1))
        {
            _ = _source.CancelAsync();
        }
        else
        {
            _timer.Change(left, Timeout.InfiniteTimeSpan);
        }
    }
}
