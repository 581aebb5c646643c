using System.Diagnostics;
using FastPort.Connections;

namespace FastPort.Sessions.Lifecycle;

/// <summary>How far a session is on its way to the end. It only moves down this list; docs/architecture.md has the table.</summary>
internal enum EndState
{
    /// <summary>Requests go both ways.</summary>
    Open,

    /// <summary>This side, a client, has said Goodbye: it sends no requests, and closes when those in flight have their replies.</summary>
    Leaving,

    /// <summary>This side ends the session: requests that cross its Goodbye are run for the grace period, then refused.</summary>
    Stopping,

    /// <summary>No more requests are expected: the connection closes as soon as no work is under way.</summary>
    Finishing,

    /// <summary>The connection has closed.</summary>
    Closed,
}

/// <summary>
/// Owns the end of a session: its state, its one reason, and the count of the work under way. Each burst of the loop (a paused burst until
/// it is resumed and ends) and each queued request is one piece of work.
/// <para>
/// The thread that decrements the count to zero checks whether the session is finishing; the thread that makes it finish checks whether the
/// count is zero. Both use interlocked operations, so at least one of them sees the other's write, and no accepted request stays
/// unanswered.
/// </para>
/// </summary>
/// <param name="connection">The connection that is closed at the end.</param>
/// <param name="clock">Measures the grace period and the timeout.</param>
internal sealed class SessionEnd(Connection connection, ConnectionClock clock)
{
    private CloseReason? _reason;
    private int _state;
    private int _work;
    private volatile bool _isAnnounced;
    private volatile bool _refuses;
    private volatile bool _peerSaidGoodbye;

    // Loop only.
    private long _graceEnds;
    private long _abortAt = ConnectionClock.Never;
    private long _receivedAtTick;

    /// <summary>Any thread.</summary>
    public EndState State => (EndState)Volatile.Read(ref _state);

    /// <summary>Why the session ends; null while it does not, or while the reason is not known yet. The first reason stays.</summary>
    public CloseReason? Reason => connection.ClosingReason ?? Volatile.Read(ref _reason);

    /// <summary>Whether the end has begun: only requests in flight are still served, and the routing id is free.</summary>
    public bool HasBegun => connection.IsClosing || Reason is not null;

    /// <summary>
    /// Whether this side ends the session. From then on it writes nothing but replies, Cancel and Goodbye: writers check this before they
    /// write, and the connection checks again when a write ends, so that neither requests nor one-way messages follow a Goodbye.
    /// </summary>
    public bool IsAnnounced => _isAnnounced;

    /// <summary>Whether <see cref="Stop"/> was called. Loop only.</summary>
    public bool IsStopping => _abortAt != ConnectionClock.Never;

    /// <summary>Whether the grace period of <see cref="Stop"/> is over: open streams end. Loop only.</summary>
    public bool IsGraceOver => IsStopping && clock.PreciseMilliseconds >= _graceEnds;

    /// <summary>Whether new requests are answered with ShuttingDown.</summary>
    public bool RefusesRequests => _refuses;

    /// <summary>
    /// Whether the session finishes as soon as the last of this side's requests has its reply. Read before the number of those requests:
    /// a thread that ends a request writes the number before it reads this, so the last one or the thread that leaves sees both.
    /// </summary>
    public bool EndsWithReplies => State == EndState.Leaving || (State == EndState.Stopping && _peerSaidGoodbye);

    public void BeginWork() => Interlocked.Increment(ref _work);

    public void EndWork()
    {
        if (Interlocked.Decrement(ref _work) == 0)
        {
            CloseIfIdle();
        }
    }

    /// <summary>This side ends the session for this reason, unless it ends for another one already. Any thread.</summary>
    public void Announce(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _reason, reason, null);
        _isAnnounced = true;
    }

    /// <summary>This side has said Goodbye and waits for its replies. On the loop, after <see cref="Announce"/>.</summary>
    public void Leave()
    {
        AssertLoop();
        Advance(EndState.Leaving);
    }

    /// <summary>
    /// Accepts requests that crossed the Goodbye for a grace period, then refuses new ones, and closes when all are answered. A Goodbye
    /// from the peer ends the grace at once. Aborts after the timeout. On the loop, after <see cref="Announce"/> and the Goodbye.
    /// </summary>
    /// <param name="grace">How long crossing requests are accepted; zero to refuse them at once.</param>
    /// <param name="timeout">When the connection is aborted.</param>
    /// <param name="isTold">Whether the peer may receive the Goodbye: then requests that cross it are still to be refused.</param>
    public void Stop(TimeSpan grace, TimeSpan timeout, bool isTold)
    {
        AssertLoop();
        if (IsStopping)
        {
            return;
        }

        long now = clock.PreciseMilliseconds;
        _graceEnds = now + (long)grace.TotalMilliseconds;
        _abortAt = now + (long)timeout.TotalMilliseconds;
        Advance(EndState.Stopping);

        // If no Goodbye was written (the peer has not said Hello), nothing else requests a tick.
        connection.RequestTick();
        if (_peerSaidGoodbye || grace <= TimeSpan.Zero)
        {
            Refuse();
        }

        if (_peerSaidGoodbye || (_refuses && !isTold))
        {
            Finish(_reason!);
        }
    }

    /// <summary>The peer sends no more requests. It may still wait for replies, and read this side's messages. On the loop.</summary>
    /// <param name="reason">The reason, with the peer's text.</param>
    /// <param name="finishes">
    /// Whether the session finishes: on the accepting side. The connecting side has been asked to leave, which its caller does.
    /// </param>
    public void PeerSaidGoodbye(CloseReason reason, bool finishes)
    {
        AssertLoop();
        _peerSaidGoodbye = true;
        if (finishes)
        {
            // Requests that follow all the same would keep the session open for as long as the peer likes.
            Refuse();
            Finish(reason);
        }
    }

    /// <summary>No more requests are expected: closes as soon as no work is under way. Any thread.</summary>
    public void Finish(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _reason, reason, null);
        Advance(EndState.Finishing);
        CloseIfIdle();
    }

    /// <summary>Called on the loop at each tick. Returns when it must be called again; <see cref="Stop"/> requests a tick itself.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <param name="isPaused">Whether this side does not read for now, so that requests may wait unread.</param>
    public long OnTick(long nowMilliseconds, bool isPaused)
    {
        AssertLoop();
        if (!IsStopping)
        {
            return ConnectionClock.Never;
        }

        // The work in flight may never end: a handler that waits forever, a peer that reads replies one byte at a time.
        if (nowMilliseconds >= _abortAt)
        {
            connection.Abort(_reason!);
            return ConnectionClock.Never;
        }

        if (nowMilliseconds < _graceEnds)
        {
            return Math.Min(_graceEnds, _abortAt);
        }

        if (State >= EndState.Finishing)
        {
            return _abortAt;
        }

        // Refuses from now on, and waits while a backlog is still arriving, or may be because this side does not read: the peer loses
        // requests that are closed unread, but can send refused requests elsewhere.
        long received = connection.BytesReceived;
        if (_refuses && received == _receivedAtTick && !isPaused)
        {
            Finish(_reason!);
        }

        Refuse();
        _receivedAtTick = received;
        return ConnectionClock.NextTick;
    }

    /// <summary>The connection has closed.</summary>
    public void OnClosed() => Advance(EndState.Closed);

    // What a paused session holds is refused too: what it waits for may never come.
    private void Refuse()
    {
        if (!_refuses)
        {
            _refuses = true;
            connection.ResumeReading();
        }
    }

    private void Advance(EndState next)
    {
        int state = Volatile.Read(ref _state);
        while (state < (int)next)
        {
            int seen = Interlocked.CompareExchange(ref _state, (int)next, state);
            if (seen == state)
            {
                return;
            }

            state = seen;
        }
    }

    // The callers' interlocked operations are full fences: these reads follow their own writes.
    private void CloseIfIdle()
    {
        if (State == EndState.Finishing && Interlocked.CompareExchange(ref _work, 0, 0) == 0)
        {
            connection.Close(Volatile.Read(ref _reason)!);
        }
    }

    [Conditional("DEBUG")]
    private void AssertLoop() => Debug.Assert(connection.IsOnLoop, "The end of a session belongs to its loop.");
}
