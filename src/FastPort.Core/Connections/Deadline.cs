namespace FastPort.Connections;

/// <summary>
/// Cancels after a time. The timer of a <see cref="CancellationTokenSource"/> runs the callbacks on its token itself: one of the
/// application's that throws would end the process, and one that blocks would hold the timers up.
/// </summary>
internal static class Deadline
{
    /// <summary>Begins to wait.</summary>
    /// <param name="source">Canceled on the thread pool. Not disposed by its owner, as the timer may just be due.</param>
    /// <param name="after">The time; <see cref="Timeout.InfiniteTimeSpan"/> for never.</param>
    /// <param name="time">Measures it.</param>
    /// <returns>Ends the wait when disposed.</returns>
    public static ITimer Start(CancellationTokenSource source, TimeSpan after, TimeProvider time) => time.CreateTimer(
        static state => _ = ((CancellationTokenSource)state!).CancelAsync(), source, after, Timeout.InfiniteTimeSpan);
}
