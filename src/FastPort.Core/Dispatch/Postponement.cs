using FastPort.Connections;

namespace FastPort.Dispatch;

/// <summary>What a request waits for whose handler wants to see it again.</summary>
/// <param name="until">Ends when it is worth trying again.</param>
/// <param name="timeout">Time for all attempts; zero for as long as it takes.</param>
internal class Postponement(Task until, TimeSpan timeout)
{
    private long _overdueAt = ConnectionClock.Never;

    public Task Until { get; } = until;

    /// <summary>Whether some of the request has been done, so that it cannot be refused any more.</summary>
    public virtual bool HasBegun => false;

    /// <summary>The frame is put off once more, or for the first time.</summary>
    public void Begin(Postponement? before, ConnectionClock clock)
    {
        if (timeout > TimeSpan.Zero)
        {
            _overdueAt = before?._overdueAt ?? clock.PreciseMilliseconds + (long)timeout.TotalMilliseconds;
        }
    }

    public bool IsOverdue(long nowMilliseconds) => nowMilliseconds >= _overdueAt;
}
