using System.Diagnostics;
using FastPort.Connections;

namespace FastPort.Dispatch;

/// <summary>The wait of a postponed request.</summary>
/// <param name="until">Completes when a retry may succeed.</param>
/// <param name="timeout">Time for all attempts; zero for no limit.</param>
/// <param name="wait">Canceled when a wait for another peer ends before; null if the request waits for this side.</param>
internal class Postponement(Task until, TimeSpan timeout, CancellationTokenSource? wait = null)
{
    private long _overdueAt = ConnectionClock.Never;

    public Task Until { get; } = until;

    /// <summary>The request's activity, which continues; null if it is not traced.</summary>
    public Activity? Activity { get; set; }

    /// <summary>Whether a part of the request has been done, so that it cannot be refused any more.</summary>
    public virtual bool HasBegun => false;

    /// <summary>Whether it waits for another peer, and not for this side.</summary>
    public bool IsForPeer => wait is not null;

    /// <summary>Begins the wait. The deadline of the first postponement that had one is kept by later ones.</summary>
    public void Begin(Postponement? before, ConnectionClock clock)
    {
        if (timeout > TimeSpan.Zero)
        {
            _overdueAt = before is { _overdueAt: not ConnectionClock.Never }
                ? before._overdueAt
                : clock.PreciseMilliseconds + (long)timeout.TotalMilliseconds;
        }
    }

    /// <summary>The request no longer waits, nor does anything on its behalf. Loop only.</summary>
    public void End()
    {
        if (!Until.IsCompleted)
        {
            // On the pool: the callee may be a program's router, which could throw, and many may wait for one target.
            _ = wait?.CancelAsync();
        }
    }

    public bool IsOverdue(long nowMilliseconds) => nowMilliseconds >= _overdueAt;
}
