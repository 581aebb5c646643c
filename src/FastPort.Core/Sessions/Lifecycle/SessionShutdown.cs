using FastPort.Connections;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions.Lifecycle;

/// <summary>
/// Ends a session in order. It counts the work under way: each burst of the loop (until it is resumed, where it paused) and each queued
/// request is one piece. Whoever takes the count to zero looks whether the session shall end; whoever decides that it shall, looks whether
/// the count is zero. Both use interlocked operations, so one of the two always sees the other, and nothing accepted goes unanswered.
/// </summary>
internal sealed class SessionShutdown(FrameProtocol protocol, Connection connection)
{
    private CloseReason? _told;
    private CloseReason? _finish;
    private CloseReason? _stop;
    private CloseReason? _leave;

    // Later than any clock until it is set, as the clock may tick between the two steps of Stop.
    private long _graceEnds = long.MaxValue;
    private long _abortAt = long.MaxValue;
    private long _receivedAtTick;
    private int _work;
    private int _refuses;
    private volatile bool _peerSaidGoodbye;

    /// <summary>Whether new requests are answered with ShuttingDown.</summary>
    public bool RefusesRequests => Volatile.Read(ref _refuses) != 0;

    /// <summary>Why the session has begun to end, whoever began; null before.</summary>
    public CloseReason? Reason => Volatile.Read(ref _stop) ?? Volatile.Read(ref _finish) ?? Volatile.Read(ref _leave);

    public void BeginWork() => Interlocked.Increment(ref _work);

    public void EndWork()
    {
        if (Interlocked.Decrement(ref _work) == 0)
        {
            FinishIfIdle();
        }
    }

    /// <summary>The peer is about to be told why the connection closes: that stays the reason, however fast it goes by itself.</summary>
    public void Telling(CloseReason reason) => Interlocked.CompareExchange(ref _told, reason, null);

    /// <summary>No more requests can or may come: closes as soon as nothing is under way.</summary>
    public void FinishWhenIdle(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _finish, Volatile.Read(ref _told) ?? reason, null);
        FinishIfIdle();
    }

    /// <summary>The peer sends no more requests. It may still wait for replies and read ours.</summary>
    public void PeerSaidGoodbye(CloseReason reason)
    {
        _peerSaidGoodbye = true;
        if (protocol.Settings.Handshake is not null)
        {
            FinishWhenIdle(_stop ?? reason);
        }
        else
        {
            // The connecting side was asked to leave.
            Leave(reason);
        }
    }

    /// <summary>Says Goodbye, after which this side sends no requests, and closes when those in flight have their replies.</summary>
    public void Leave(CloseReason reason)
    {
        if (Interlocked.CompareExchange(ref _leave, reason, null) is null)
        {
            protocol.SendGoodbye(new CloseReason(CloseKind.LocalClosed, "The client is leaving."));
            AfterReply();
        }
    }

    /// <summary>A request of this side has ended.</summary>
    public void AfterReply()
    {
        // Written before the count is read, here and by whoever ends a request: one of the two sees both.
        if (Volatile.Read(ref _leave) is { } leave && protocol.Requests.Outstanding.Count == 0)
        {
            FinishWhenIdle(leave);
        }
    }

    /// <summary>
    /// Says Goodbye, then gives requests that crossed it on the way a grace period, then refuses new ones; closes when all is answered.
    /// A peer that answers with its own Goodbye ends the grace at once. Aborts after the timeout.
    /// </summary>
    public void Stop(CloseReason reason, TimeSpan grace, TimeSpan timeout)
    {
        // Before the stop is published: a tick that sees it must not see a grace that has ended long ago.
        long now = protocol.Settings.Clock.PreciseMilliseconds;
        Interlocked.CompareExchange(ref _abortAt, now + (long)timeout.TotalMilliseconds, long.MaxValue);
        Interlocked.CompareExchange(ref _graceEnds, now + (long)grace.TotalMilliseconds, long.MaxValue);
        if (Interlocked.CompareExchange(ref _stop, reason, null) is not null)
        {
            return;
        }

        // Where there is nobody to say Goodbye to nothing else asks for it.
        connection.RequestTick();
        protocol.SendGoodbye(reason);
        if (_peerSaidGoodbye || grace <= TimeSpan.Zero)
        {
            EndGrace();
        }
    }

    /// <summary>
    /// The peer has said Hello. One that did so while the server was stopping has not got its Goodbye: it gets it after the Welcome. Either
    /// the stop sees the session identified, or this sees the stop; where both do, the second Goodbye is not written.
    /// </summary>
    public void AfterHello()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _stop) is { } stop)
        {
            protocol.SendGoodbye(stop);
        }
    }

    /// <summary>Coarse clock only. Returns when it has to be asked again; <see cref="Stop"/> asks for a tick itself.</summary>
    public long OnTick(long nowMilliseconds)
    {
        if (Volatile.Read(ref _stop) is not { } stop)
        {
            return ConnectionClock.Never;
        }

        // What is in flight may never end: a handler that waits for ever, replies that the peer takes one byte at a time.
        long abortAt = Volatile.Read(ref _abortAt);
        if (nowMilliseconds >= abortAt)
        {
            connection.Abort(stop);
            return ConnectionClock.Never;
        }

        if (_finish is not null)
        {
            return abortAt;
        }

        long graceEnds = Volatile.Read(ref _graceEnds);
        if (nowMilliseconds < graceEnds)
        {
            return Math.Min(graceEnds, abortAt);
        }

        // Refuses from here on, and goes on to do so while a backlog is still coming in: what is closed unread is lost to the peer, what is
        // refused it may send elsewhere.
        long received = connection.BytesReceived;
        if (Interlocked.Exchange(ref _refuses, 1) != 0 && received == _receivedAtTick)
        {
            FinishWhenIdle(_stop!);
        }

        _receivedAtTick = received;
        return ConnectionClock.NextTick;
    }

    private void EndGrace()
    {
        Interlocked.Exchange(ref _refuses, 1);
        FinishWhenIdle(_stop!);
    }

    private void FinishIfIdle()
    {
        // The full fences of the callers' interlocked operations order this reading after their own change.
        CloseReason? finish = Volatile.Read(ref _finish);
        if (finish is not null && Interlocked.CompareExchange(ref _work, 0, 0) == 0)
        {
            connection.Close(finish);
        }
    }
}
