namespace FastPort.Connections;

/// <summary>
/// Cancels after a time. The timer of a <see cref="CancellationTokenSource"/> runs the callbacks on its token itself: an application
/// callback that throws would end the process, and one that blocks would delay the timers.
/// </summary>
internal static class Deadline
{
    /// <summary>Begins to wait.</summary>
    /// <param name="source">Canceled on the thread pool. Not disposed by its owner, as the timer may just be due.</param>
    /// <param name="after">The time; <see cref="Timeout.InfiniteTimeSpan"/> for never.</param>
    /// <param name="clock">Measures it: time in which the process did not run does not count against the peer.</param>
    /// <returns>Ends the wait when disposed.</returns>
    public static ITimer Start(CancellationTokenSource source, TimeSpan after, ConnectionClock clock)
    {
        long since = clock.PreciseMilliseconds;
        ITimer? timer = null;
        timer = clock.Time.CreateTimer(
            _ =>
            {
                TimeSpan left = after - TimeSpan.FromMilliseconds(clock.PreciseMilliseconds - since);
                if (left < TimeSpan.FromMilliseconds(1))
                {
                    _ = source.CancelAsync();
                }
                else
                {
                    timer!.Change(left, Timeout.InfiniteTimeSpan);
                }
            },
            null,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        timer.Change(after, Timeout.InfiniteTimeSpan);
        return timer;
    }
}
