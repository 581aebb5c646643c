using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Sending;
using FastPort.Sessions.Streams;
using FastPort.Sessions.Tracing;

namespace FastPort.Sessions.Requests;

/// <summary>
/// The requests that this side sends to its peer, heartbeats included, from sending to reply, expiry or the end of the session. Sending and
/// canceling are safe from any thread; replies, expiry and heartbeats run on the loop. The thread that removes a request from
/// <see cref="Outstanding"/> completes it.
/// </summary>
internal sealed partial class OutgoingRequests(SessionSettings settings, Session session, FrameOutput output, SessionEnd end)
{
    // Loop only.
    private bool _peerErrorLogged;

    // Loop only.
    private uint _heartbeat;

    // Bits of FrameBlocks. Set before the first frame is written that lets the peer send such a block, and never reset. From then on the
    // peer's frames may exceed the limit by a block.
    private int _expected;

    // Loop only: whether the burst has delivered replies.
    private bool _hasDelivered;

    public OutstandingRequests Outstanding { get; } = new();

    /// <summary>
    /// The error with which an identified peer has announced that it ends the connection; null if there was none. Used on the loop only.
    /// </summary>
    public CloseReason? PeerError { get; private set; }

    /// <summary>The blocks that the peer's frames may have.</summary>
    public FrameBlocks Expected => (FrameBlocks)Volatile.Read(ref _expected);

    /// <summary>Allows a block in the peer's frames from now on. Any thread.</summary>
    public void Expect(FrameBlocks block)
    {
        if ((Expected & block) == 0)
        {
            Interlocked.Or(ref _expected, (int)block);
        }
    }

    /// <summary>Sends a request if there is room. For a request that was not sent, the returned status is the only notice.</summary>
    public SendStatus TrySend<TBody>(
        ushort type, scoped in TBody body, PendingReply pending, bool timing, TimeSpan timeout, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        correlation = 0;
        if (Begin(type, pending, timeout) is var admitted && admitted != SendStatus.Queued)
        {
            return admitted;
        }

        if (timing)
        {
            Expect(FrameBlocks.Timing);
        }

        FrameFlags flags = timing ? FrameFlags.Timing : FrameFlags.None;
        bool sendsDeadline = timeout > TimeSpan.Zero && output.CarriesCalls && pending.SendsDeadline;
        SendStatus status = sendsDeadline || (Traces.IsOn && output.CarriesTraces)
            ? WriteWithBlocks(type, flags, sendsDeadline ? DeadlineBlock.Of(timeout) : null, in body, pending, out correlation)
            : output.WriteRequest(type, flags, in body, pending, Outstanding, out correlation);
        if (status == SendStatus.Queued)
        {
            output.FlushUnlessDeferred();
        }

        return status;
    }

    // Queued if the request may be written.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private SendStatus Begin(ushort type, PendingReply pending, TimeSpan timeout)
    {
        if (session.IsClosed)
        {
            return SendStatus.Closed;
        }

        if (!output.CanSendUnsolicited)
        {
            return SendStatus.NotReady;
        }

        if (output.QueueLimit.IsFull && !output.QueueLimit.TryMake())
        {
            if (settings.Options.SendQueueFull != SendQueueFullPolicy.Disconnect)
            {
                return SendStatus.Full;
            }

            output.QueueLimit.DisconnectSlowConsumer();
            return SendStatus.Closed;
        }

        pending.Type = type;
        pending.DeadlineMilliseconds = timeout > TimeSpan.Zero
            ? settings.Clock.PreciseMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds)
            : 0;
        pending.StartedNanoseconds = MonotonicClock.Nanoseconds;
        return SendStatus.Queued;
    }

    // Separate, so that requests without blocks have nothing of them on their stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private SendStatus WriteWithBlocks<TBody>(
        ushort type, FrameFlags flags, uint? deadline, scoped in TBody body, PendingReply pending, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        if (deadline is { } milliseconds)
        {
            var limited = new DeadlineBody<TBody>(milliseconds, in body);
            return WriteTraced(type, flags | FrameFlags.Deadline, in limited, pending, out correlation);
        }

        return WriteTraced(type, flags, in body, pending, out correlation);
    }

    private SendStatus WriteTraced<TBody>(
        ushort type, FrameFlags flags, scoped in TBody body, PendingReply pending, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        if (Traces.IsOn && output.CarriesTraces && Traces.TryGetContext(out ActivityContext context))
        {
            var traced = new TracedBody<TBody>(context, in body);
            return output.WriteRequest(type, flags | FrameFlags.Trace, in traced, pending, Outstanding, out correlation);
        }

        return output.WriteRequest(type, flags, in body, pending, Outstanding, out correlation);
    }

    public bool Cancel(uint correlation)
    {
        if (!Outstanding.TryRemove(correlation, null, out PendingReply? pending))
        {
            return false;
        }

        SendCancel(correlation);
        Fail(pending!, RequestFailure.Canceled, "The request was canceled.");
        FinishIfAllReplied();
        return true;
    }

    /// <summary>Passes a reply to its request. Loop only.</summary>
    public void Deliver(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        ReadOnlySequence<byte> body = input.GetReadableSequence(FrameHeader.Size + header.TimingSize, header.BodySize);
        if ((header.Flags & FrameFlags.More) != 0)
        {
            DeliverItem(header, body, received);
            return;
        }

        var reply = new InboundReply(header, body, header.TimingSize == 0 ? default : FrameReader.ReadTiming(input), received);
        if (header.Correlation == 0)
        {
            // Correlation 0 concerns the connection, not a request. The peer closes the connection next.
            settings.Telemetry.Counters.ReplyToNothing();
            if (reply.IsError && !_peerErrorLogged)
            {
                // Logged once: a peer must not be able to fill the log.
                _peerErrorLogged = true;
                LogPeerError(in reply);
            }

            return;
        }

        if (Outstanding.TryRemove(header.Correlation, header.Type, out PendingReply? pending))
        {
            _hasDelivered = true;
            Deliver(pending!, in reply);
        }
        else
        {
            settings.Telemetry.Counters.ReplyToNothing();
        }
    }

    private void Deliver(PendingReply pending, scoped in InboundReply reply)
    {
        try
        {
            pending.OnReply(in reply);
        }
        catch (Exception e)
        {
            SessionLog.PendingReplyFailed(settings.Logger, session, e);
        }

        NoContext.Restore();
        FinishIfAllReplied();
    }

    /// <summary>The burst resumes a caller with <see cref="ContinuationQueue.Add"/>. Loop only.</summary>
    public void ResumeCallers() => _hasDelivered = true;

    /// <summary>The burst has ended: the callers of its replies are resumed. Loop only.</summary>
    public void EndBurst()
    {
        if (_hasDelivered)
        {
            _hasDelivered = false;
            _stream = null;
            ContinuationQueue.OfLoop.EndBurst();
        }
    }

    private void LogPeerError(scoped in InboundReply reply)
    {
        if (session.IsPeerKnown)
        {
            (ErrorCode code, string message) = reply.ReadError();
            string text = PeerText.Escape(message);
            PeerError = new CloseReason(CloseKind.PeerClosed, $"The peer ended the connection ({code}): {text}", (uint)code);
            SessionLog.PeerError(settings.Logger, session, code, text);
        }
        else
        {
            // Only the code, which is at the start of the body.
            CodeBody.TryRead(reply.Body.Slice(0, Math.Min(reply.Body.Length, 16)).ToArray(), out CodeBody error);
            SessionLog.PeerError(settings.Logger, session, error.Code, "text omitted, as the peer has not said Hello");
        }
    }

    /// <summary>
    /// Fails the expired requests and sends Cancel for each. Returns when it must be called again, unless a request is flushed before.
    /// Called on the loop at each tick.
    /// </summary>
    public long OnTick(long nowMilliseconds)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        if (Outstanding.RemoveExpired(nowMilliseconds, out long next) is { } expired)
        {
            foreach ((uint correlation, PendingReply pending) in expired)
            {
                Fail(
                    pending, RequestFailure.TimedOut,
                    pending is StreamReply { HasItems: true } ? "The call did not end in time." : "The reply did not arrive in time.");
                SendCancel(correlation);
            }

            FinishIfAllReplied();
        }

        return next;
    }

    public void SendHeartbeat()
    {
        Debug.Assert(session.Connection.IsOnLoop);
        // One Ping at a time: they must not accumulate if a live peer does not answer them.
        EndHeartbeat();
        if (Outstanding.TryAdd(new HeartbeatReply { Type = ControlType.Ping }, out uint correlation))
        {
            _heartbeat = correlation;
            output.WriteAndFlush(ControlType.Ping, FrameFlags.None, correlation, default(EmptyBody));
        }
    }

    /// <summary>Finishes a session that has waited only for the replies to this side's requests. Any thread.</summary>
    public void FinishIfAllReplied()
    {
        if (end.EndsWithReplies && Outstanding.Count == 0)
        {
            end.Finish(end.Reason!);
        }
    }

    /// <summary>Waits no more for the answer to a heartbeat. Loop only.</summary>
    public void EndHeartbeat() => Outstanding.TryRemove(_heartbeat, ControlType.Ping, out _);

    public void OnClosed(CloseReason reason)
    {
        foreach (PendingReply pending in Outstanding.Close())
        {
            Fail(pending, RequestFailure.ConnectionLost, $"The connection was lost while the request was in flight ({reason.Message})");
        }
    }

    // An exception of one caller's code must not stop the other failures or the end of the session, or come to who cancels.
    private void Fail(PendingReply pending, RequestFailure failure, string message)
    {
        try
        {
            NoContext.Run(static one => one.pending.OnFailed(one.failure, one.message), (pending, failure, message));
        }
        catch (Exception e)
        {
            SessionLog.PendingReplyFailed(settings.Logger, session, e);
        }
    }

    private void SendCancel(uint correlation) =>
        output.WriteAndFlush(ControlType.Cancel, FrameFlags.OneWay, 0, new CancelBody(correlation));

    // Any byte from the peer resets the deadline, so the reply itself is ignored.
    private sealed class HeartbeatReply : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message)
        {
        }
    }
}
