using FastPort.Connections;

namespace FastPort.Sessions.Requests;

/// <summary>The time limit of a call, which may wait several times. The clock is read only if it waits: most calls do not.</summary>
/// <param name="limit">Zero or less for none.</param>
internal struct TimeLimit(TimeSpan limit)
{
    // In milliseconds of the clock; 0 while the call has not waited.
    private long _deadline;

    /// <summary>The time left, at least 1 ms; zero for no limit.</summary>
    public TimeSpan Left { get; private set; } = limit > TimeSpan.Zero ? limit : TimeSpan.Zero;

    /// <summary>The call waits next.</summary>
    public void Waits(ConnectionClock clock)
    {
        if (_deadline == 0 && Left > TimeSpan.Zero)
        {
            _deadline = clock.PreciseMilliseconds + (long)Math.Ceiling(Left.TotalMilliseconds);
        }
    }

    /// <summary>The call waits for this reply next.</summary>
    public void Waits(PendingReply reply) => _deadline = reply.DeadlineMilliseconds;

    /// <summary>The call has waited.</summary>
    public void Waited(ConnectionClock clock)
    {
        if (_deadline != 0)
        {
            Left = TimeSpan.FromMilliseconds(Math.Max(1, _deadline - clock.PreciseMilliseconds));
        }
    }
}
