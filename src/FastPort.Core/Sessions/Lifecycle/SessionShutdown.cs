using FastPort.Connections;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions.Lifecycle;

/// <summary>
/// Ends a session in order. It counts the work under way: each burst of the loop (a paused burst until it is resumed and ends) and each
/// queued request is one piece. The thread that decrements the count to zero checks whether the session must end; the thread that decides
/// that it must end checks whether the count is zero. Both use interlocked operations, so at least one of them sees the other's write, and
/// no accepted request stays unanswered.
/// </summary>
internal sealed class SessionShutdown(FrameProtocol protocol, Connection connection)
{
    private CloseReason? _told;
    private CloseReason? _finish;
    private CloseReason? _stop;
    private CloseReason? _leave;

    // Belong to the loop.
    private long _graceEnds;
    private long _abortAt;
    private long _receivedAtTick;
    private bool _peerSaidGoodbye;

    private int _work;
    private volatile bool _refuses;

    /// <summary>Whether new requests are answered with ShuttingDown.</summary>
    public bool RefusesRequests => _refuses;

    /// <summary>Whether this side ends the session, by <see cref="Stop"/>.</summary>
    public bool IsStopping => Volatile.Read(ref _stop) is not null;

    /// <summary>Why the session has begun to end, on whichever side; null before.</summary>
    public CloseReason? Reason => Volatile.Read(ref _stop) ?? Volatile.Read(ref _finish) ?? Volatile.Read(ref _leave);

    public void BeginWork() => Interlocked.Increment(ref _work);

    public void EndWork()
    {
        if (Interlocked.Decrement(ref _work) == 0)
        {
            FinishIfIdle();
        }
    }

    /// <summary>
    /// Records the reason that the peer is about to be told. It stays the reason even if the peer closes the connection first.
    /// </summary>
    public void Telling(CloseReason reason) => Interlocked.CompareExchange(ref _told, reason, null);

    /// <summary>No more requests are accepted: closes as soon as no work is under way.</summary>
    public void FinishWhenIdle(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _finish, Volatile.Read(ref _told) ?? reason, null);
        FinishIfIdle();
    }

    /// <summary>The peer sends no more requests. It may still wait for replies, and read this side's messages. On the loop.</summary>
    public void PeerSaidGoodbye(CloseReason reason)
    {
        _peerSaidGoodbye = true;
        if (protocol.Settings.Handshake is not null)
        {
            // Requests that follow all the same would keep the session open for as long as the peer likes.
            Refuse();
            FinishWhenIdle(_stop ?? reason);
        }
        else
        {
            // The accepting side asks the connecting side to leave.
            Leave(reason);
        }
    }

    /// <summary>Says Goodbye, after which this side sends no requests, and closes when the requests in flight have their replies.</summary>
    public void Leave(CloseReason reason)
    {
        if (Interlocked.CompareExchange(ref _leave, reason, null) is null)
        {
            protocol.SendGoodbye(new CloseReason(CloseKind.LocalClosed, "The client is leaving."));
            protocol.Requests.EndHeartbeat();
            AfterReply();
        }
    }

    /// <summary>Called when a request of this side has ended; any thread.</summary>
    public void AfterReply()
    {
        // _leave is written before Leave reads the count; a thread that ends a request writes the count before it reads _leave. At least
        // one of the two sees both.
        if (Volatile.Read(ref _leave) is { } leave && protocol.Requests.Outstanding.Count == 0)
        {
            FinishWhenIdle(leave);
        }
    }

    /// <summary>
    /// Says Goodbye, accepts requests that crossed it for a grace period, then refuses new ones, and closes when all are answered. A
    /// Goodbye from the peer ends the grace at once. Aborts after the timeout. On the loop.
    /// </summary>
    public void Stop(CloseReason reason, TimeSpan grace, TimeSpan timeout)
    {
        if (_stop is not null)
        {
            return;
        }

        long now = protocol.Settings.Clock.PreciseMilliseconds;
        _abortAt = now + (long)timeout.TotalMilliseconds;
        _graceEnds = now + (long)grace.TotalMilliseconds;
        Volatile.Write(ref _stop, reason);

        // If no Goodbye is written (the peer has not said Hello), nothing else requests a tick.
        connection.RequestTick();
        bool isTold = protocol.SendGoodbye(reason);
        if (_peerSaidGoodbye || grace <= TimeSpan.Zero)
        {
            Refuse();
        }

        if (_peerSaidGoodbye || (_refuses && !isTold))
        {
            // Otherwise requests that cross the Goodbye are still to be refused.
            FinishWhenIdle(reason);
        }
    }

    /// <summary>
    /// Called when the peer's Hello has been answered. If the session was stopped before, the peer has not received a Goodbye: it is sent
    /// after the Welcome. A second Goodbye is never written. On the loop.
    /// </summary>
    public void AfterHello()
    {
        if (_stop is { } stop)
        {
            protocol.SendGoodbye(stop);
        }
    }

    /// <summary>Called on the loop at each tick. Returns when it must be called again; <see cref="Stop"/> requests a tick itself.</summary>
    public long OnTick(long nowMilliseconds)
    {
        if (_stop is not { } stop)
        {
            return ConnectionClock.Never;
        }

        // The work in flight may never end: a handler that waits forever, a peer that reads replies one byte at a time.
        if (nowMilliseconds >= _abortAt)
        {
            connection.Abort(stop);
            return ConnectionClock.Never;
        }

        if (_finish is not null)
        {
            return _abortAt;
        }

        if (nowMilliseconds < _graceEnds)
        {
            return Math.Min(_graceEnds, _abortAt);
        }

        // Refuses from now on, and waits while a backlog is still arriving, or may be because this side does not read: the peer loses
        // requests that are closed unread, but can send refused requests elsewhere.
        long received = connection.BytesReceived;
        if (_refuses && received == _receivedAtTick && !protocol.IsPaused)
        {
            FinishWhenIdle(stop);
        }

        Refuse();
        _receivedAtTick = received;
        return ConnectionClock.NextTick;
    }

    // What a paused session holds is refused too: what it waits for may never come.
    private void Refuse()
    {
        if (!_refuses)
        {
            _refuses = true;
            protocol.ResumeReading();
        }
    }

    private void FinishIfIdle()
    {
        // The callers' interlocked operations are full fences: this read follows their own write.
        CloseReason? finish = Volatile.Read(ref _finish);
        if (finish is not null && Interlocked.CompareExchange(ref _work, 0, 0) == 0)
        {
            connection.Close(finish);
        }
    }
}
