using System.Buffers;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Telemetry;

namespace FastPort.Sessions;

/// <summary>
/// FastPort's frame protocol on one connection, the same on both sides: decodes in place, answers control messages, dispatches requests to
/// handlers, matches replies with requests.
/// <para>
/// The decode loop and everything it calls run on the connection's loop. What other threads touch: <see cref="Output"/> and
/// <see cref="Outstanding"/> (their own locks), the request queue (its own), and the counters here, which are interlocked or volatile.
/// A session ends in order through <see cref="SessionEnd"/>: it counts the work under way, a burst being one piece of it.
/// </para>
/// </summary>
internal sealed class FrameProtocol : IConnectionProtocol
{
    private readonly SessionSettings _settings;
    private readonly SessionDeadlines _deadlines;
    private readonly Handshake? _handshake;
    private readonly Gatekeeper? _gatekeeper;
    private Connection _connection = null!;
    private SessionEnd _end = null!;
    private TrafficMeter _traffic = null!;
    private RequestQueue? _queue;
    private HandledBurst _handled = null!;
    private long _messagesReceived;
    private long _stampedBytes = -1;
    private long _stamp;
    private bool _peerErrorLogged;

    // Coarse clock only.
    private uint _heartbeat;
    private bool _paused;
    private volatile bool _closed;

    // Set before the first request with Timing is written, and never reset: replies may then exceed the limit by their block.
    private volatile bool _expectsTiming;

    public FrameProtocol(SessionSettings settings)
    {
        _settings = settings;
        _deadlines = new SessionDeadlines(settings.Options, settings.Clock);
        _handshake = settings.Handshake is null ? null : new Handshake(settings.Handshake, this);
        _gatekeeper = settings.Authoriser is null ? null : new Gatekeeper(settings.Authoriser, this);
    }

    public Session Session { get; private set; } = null!;

    public FrameOutput Output { get; private set; } = null!;

    public OutstandingRequests Outstanding { get; } = new();

    /// <summary>The session's own latencies; null where sessions are not measured one by one.</summary>
    public LatencySeries? SessionSeries { get; private set; }

    public SessionSettings Settings => _settings;

    public SessionDeadlines Deadlines => _deadlines;

    public long MessagesReceived => Volatile.Read(ref _messagesReceived);

    public bool IsClosed => _closed;

    public bool IsOutputFull => Output.IsFull;

    public void OnOpened(Connection connection)
    {
        _connection = connection;
        Output = new FrameOutput(connection, _settings.Options);
        Session = new Session(this, connection);
        SessionSeries = _settings.SessionStats?.ForSession((ulong)Session.Id);
        _end = new SessionEnd(this, connection);
        _traffic = new TrafficMeter(connection, this, _settings.Telemetry.Counters);
        _deadlines.Start(connection, handshakeRequired: _handshake?.IsRequired == true);
        _settings.Telemetry.Counters.SessionOpened();
        SessionLog.Opened(_settings.Logger, Session);
        _settings.Host.OnOpened(Session);
    }

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        long now = MonotonicClock.Nanoseconds;
        long bytes = _connection.BytesReceived;
        if (bytes != _stampedBytes)
        {
            // Not after a mere resume: what waited in the ring has been in memory since it came.
            _stampedBytes = bytes;
            _stamp = now;
        }

        // A paused burst is still under way: what lies unread in the ring was received and will be answered.
        if (!_paused)
        {
            _end.BeginWork();
        }

        _paused = false;
        Output.BeginBurst();
        _handled = HandledBurst.Begin(_stamp, now, SessionSeries);
        try
        {
            ReceiveOutcome outcome = Decode(input, _stamp);
            _paused = outcome == ReceiveOutcome.Pause;
            _deadlines.AfterBurst(input, _paused);
            return outcome;
        }
        finally
        {
            _handled.End();
            FrameOutput.EndBurst();
            if (!_paused)
            {
                _end.EndWork();
            }
        }
    }

    public void OnInputEnded(bool truncated)
    {
        if (truncated)
        {
            _connection.Close(CloseReason.PeerTruncated);
        }
        else
        {
            _deadlines.InputEnded();
            _end.FinishWhenIdle(CloseReason.PeerClosed);
        }
    }

    public void OnOutputDrained()
    {
        Output.OnDrained();
        _connection.ResumeReading();
    }

    public void OnTick(long nowMilliseconds)
    {
        _traffic.Report();
        if (Outstanding.RemoveExpired(nowMilliseconds) is { } expired)
        {
            foreach ((uint correlation, PendingReply pending) in expired)
            {
                Failed(pending, RequestFailure.TimedOut, "The reply did not come in time.");
                SendCancel(correlation);
            }

            _end.AfterReply();
        }

        switch (_deadlines.Check(nowMilliseconds, out CloseReason? reason))
        {
            case DeadlineAction.Close:
                CloseWithGoodbye(reason!);
                break;
            case DeadlineAction.Ping:
                Heartbeat();
                break;
        }

        _end.OnTick(nowMilliseconds);
    }

    public void OnClosed(CloseReason reason)
    {
        _closed = true;
        _traffic.Report();
        _queue?.Complete();
        _handshake?.OnClosed();
        _gatekeeper?.OnClosed();
        Output.OnClosed();
        _settings.SessionStats?.EndSession((ulong)Session.Id);
        _settings.Telemetry.CountClose(reason);
        _settings.Telemetry.Counters.SessionClosed();
        if (reason.Kind is CloseKind.PeerClosed or CloseKind.LocalClosed or CloseKind.Stopping or CloseKind.ConnectionLost)
        {
            SessionLog.Closed(_settings.Logger, Session, reason);
        }
        else
        {
            SessionLog.ClosedOnFault(_settings.Logger, Session, reason);
        }

        foreach (PendingReply pending in Outstanding.Close())
        {
            Failed(pending, RequestFailure.ConnectionLost, $"The connection was lost while the request was in flight ({reason.Message})");
        }

        _settings.Host.OnClosed(Session, reason);
    }

    /// <summary>Sends a request if there is room; the failure of a request that was not sent is the returned status alone.</summary>
    public SendStatus TryRequest<TBody>(
        ushort type, scoped in TBody body, PendingReply pending, bool timing, TimeSpan timeout, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        correlation = 0;
        if (_closed || _connection.IsClosing)
        {
            return SendStatus.Closed;
        }

        if (Output.IsFull && !Output.TryMakeRoom())
        {
            if (_settings.Options.SendQueueFull != SendQueueFullPolicy.Disconnect)
            {
                return SendStatus.Full;
            }

            Output.DisconnectSlowConsumer();
            return SendStatus.Closed;
        }

        pending.Type = type;
        pending.DeadlineMilliseconds = timeout > TimeSpan.Zero ? _settings.Clock.PreciseMilliseconds + (long)Math.Ceiling(timeout.TotalMilliseconds) : 0;
        pending.StartedNanoseconds = MonotonicClock.Nanoseconds;
        if (timing)
        {
            _expectsTiming = true;
        }

        SendStatus status = Output.WriteRequest(type, timing, in body, pending, Outstanding, out correlation);
        if (status == SendStatus.Queued)
        {
            Output.FlushUnlessInBurst();
        }

        return status;
    }

    public bool CancelRequest(uint correlation)
    {
        if (!Outstanding.TryRemove(correlation, null, out PendingReply? pending))
        {
            return false;
        }

        SendCancel(correlation);
        pending!.OnFailed(RequestFailure.Cancelled, "The request was cancelled.");
        _end.AfterReply();
        return true;
    }

    /// <summary>Answers a request; what cannot be answered as wanted becomes an error.</summary>
    public void Reply<TBody>(in FrameHeader request, long received, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        FrameFlags flags = FrameFlags.Reply | (request.Flags & FrameFlags.Timing);
        if (Output.Write(request.Type, flags, request.Correlation, received, in body) == SendStatus.TooLarge)
        {
            ReplyError(
                request, received, ErrorCode.ReplyTooLarge, $"The reply's body has {body.Size} bytes; the frame limit allows {FrameLimits.LargestBody(Output.Limit)}.");
        }
    }

    /// <summary>Answers without copying the body, which is released once whatever becomes of the reply.</summary>
    public void ReplyBorrowed(in FrameHeader request, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        FrameFlags flags = FrameFlags.Reply | (request.Flags & FrameFlags.Timing);
        SendStatus status = Output.WriteBorrowedReply(request.Type, flags, request.Correlation, received, body, release, state);
        if (status == SendStatus.Queued)
        {
            return;
        }

        if (status == SendStatus.TooLarge)
        {
            ReplyError(
                request, received, ErrorCode.ReplyTooLarge, $"The reply's body has {body.Length} bytes; the frame limit allows {FrameLimits.LargestBody(Output.Limit)}.");
        }

        release?.Invoke(state);
    }

    public void ReplyError(in FrameHeader request, long received, ErrorCode code, string message)
    {
        FrameFlags flags = FrameFlags.Reply | FrameFlags.Error | (request.Flags & FrameFlags.Timing);
        _settings.Telemetry.ErrorSent(code);
        Output.Write(request.Type, flags, request.Correlation, received, new CodeBody(code, message).CutTo(Session.LargestBody));
    }

    public void CountOneWayFailure(ErrorCode code) => _settings.Telemetry.Counters.OneWayFailed((uint)code);

    public void Flush() => Output.Flush();

    public Task WhenDrainedAsync() => Output.WhenDrainedAsync();

    public void ResumeReading() => _connection.ResumeReading();

    /// <summary>All queued requests have been completed.</summary>
    public void EndQueuedWork() => _end.EndWork();

    public void HandlerFailed(RequestContext request, Exception exception)
    {
        request.Handler.Series?.RecordError();
        if (exception is OperationCanceledException && request.Aborted.IsCancellationRequested)
        {
            return;
        }

        if (exception is RequestRefusedException refusal && (request.IsOneWay || !request.Answered))
        {
            request.Fail(refusal.Code, refusal.Message);
            return;
        }

        SessionLog.HandlerFailed(_settings.Logger, Session, request.Handler.Name, exception);
        if (request.IsOneWay)
        {
            CountOneWayFailure(ErrorCode.Internal);
        }
        else if (!request.Answered)
        {
            request.Fail(ErrorCode.Internal, "The request failed inside the server.");
        }
    }

    /// <summary>Takes no new requests, answers what is in flight and closes; the peer is told if it has said Hello.</summary>
    public void Stop(CloseReason reason, TimeSpan grace) => _end.Stop(reason, grace);

    /// <summary>Sends no more requests and closes when those in flight have their replies.</summary>
    public void Leave(CloseReason reason) => _end.Leave(reason);

    /// <summary>The Welcome came: the peer's limit and heartbeat apply.</summary>
    public void Welcomed(in WelcomeBody welcome)
    {
        if (welcome.MaxFrameBytes != 0)
        {
            Output.Limit = (int)Math.Clamp(welcome.MaxFrameBytes, FrameLimits.Minimum, (uint)_settings.Options.MaxFrameBytes);
        }

        Session.IsIdentified = true;
        TimeSpan heartbeat = _settings.Options.HeartbeatInterval;
        if (welcome.HeartbeatMilliseconds != 0 && heartbeat > TimeSpan.Zero)
        {
            heartbeat = TimeSpan.FromMilliseconds(Math.Min(welcome.HeartbeatMilliseconds, heartbeat.TotalMilliseconds));
        }

        _deadlines.Identified(heartbeat);
    }

    /// <summary>The accepting side has welcomed the peer.</summary>
    public void AfterHello() => _end.AfterHello();

    /// <summary>Says Goodbye where the peer may hear it, then closes. Nothing in flight is waited for.</summary>
    public void CloseWithGoodbye(CloseReason reason)
    {
        SendGoodbye(reason);
        _connection.Close(reason);
    }

    public void SendGoodbye(CloseReason reason)
    {
        // A server sends nothing unsolicited before Hello; the connecting side has no such rule.
        if (_handshake is null || Session.IsIdentified)
        {
            Output.WriteGoodbye(new CodeBody(reason.Code, reason.Message));
        }
    }

    /// <summary>Answers Unauthenticated, where an answer is wanted, and closes.</summary>
    public void RefuseUnauthenticated(in FrameHeader request, long received, CloseReason reason)
    {
        Refuse(request, received, ErrorCode.Unauthenticated, reason.Message);
        _connection.Close(reason);
    }

    // A defect in one caller's code must not take the others' failures, or the end of the session, with it.
    private void Failed(PendingReply pending, RequestFailure failure, string message)
    {
        try
        {
            pending.OnFailed(failure, message);
        }
        catch (Exception e)
        {
            SessionLog.PendingReplyFailed(_settings.Logger, Session, e);
        }
    }

    private ReceiveOutcome Decode(ArrayPoolCircularBuffer input, long received)
    {
        while (!_connection.IsClosing)
        {
            // Only the accepting side holds its reads back for its sends: two sides that both did would wait for each other for ever. With
            // nothing unread there is nothing to hold back, and nothing that would bring a resumed burst back here.
            if (_handshake is not null && Output.IsFull && !input.IsEmpty && !TryMakeRoom())
            {
                return ReceiveOutcome.Pause;
            }

            input.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
            switch (FrameReader.TryRead(first, second, _settings.Options.MaxFrameBytes, _expectsTiming, out FrameHeader header))
            {
                case FrameReadStatus.Complete:
                    if (!Dispatch(header, input, received))
                    {
                        return ReceiveOutcome.Pause;
                    }

                    Volatile.Write(ref _messagesReceived, _messagesReceived + 1);
                    input.Consume((int)header.FrameSize);
                    break;
                case FrameReadStatus.Incomplete:
                    return ReceiveOutcome.Continue;
                case FrameReadStatus.TooLarge:
                    ProtocolError(
                        ErrorCode.FrameTooLarge, header.Type, $"The frame's length is {header.Length}; the limit is {_settings.Options.MaxFrameBytes} bytes.");
                    break;
                default:
                    ProtocolError(
                        ErrorCode.MalformedFrame,
                        header.Type,
                        $"The frame header is malformed (length {header.Length}, type 0x{header.Type:X4}, flags 0x{(byte)header.Flags:X2}, version {header.Version}, correlation {header.Correlation}).");
                    break;
            }
        }

        return ReceiveOutcome.Continue;
    }

    // The send ring is at its bound: try the socket once, else stop reading until it has drained.
    private bool TryMakeRoom()
    {
        if (Output.TryMakeRoom())
        {
            return true;
        }

        if (_settings.Options.SendQueueFull == SendQueueFullPolicy.Disconnect)
        {
            Output.DisconnectSlowConsumer();
            return false;
        }

        _connection.NotifyWhenDrained(_settings.Options.SendQueueBytes / 2);
        return false;
    }

    // False to see the same frame again after a resume.
    private bool Dispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        if (header.IsReply)
        {
            DeliverReply(header, input, received);
            return true;
        }

        if (_handshake is not null && !_handshake.Admits(header))
        {
            RefuseUnauthenticated(
                header,
                received,
                new CloseReason(CloseKind.Unauthenticated, $"Message 0x{header.Type:X4} came before a valid Hello.", ErrorCode.Unauthenticated));
            return true;
        }

        ReadOnlySequence<byte> body = input.GetReadableSequence(FrameHeader.Size, header.BodySize);
        switch (header.Type)
        {
            case ControlType.Hello when _handshake is not null:
                return _handshake.OnHello(header, body, received);
            case ControlType.Ping:
                if (!header.IsOneWay)
                {
                    Reply(header, received, default(EmptyBody));
                }

                return true;
            case ControlType.Goodbye:
                OnGoodbye(header, body, received);
                return true;
            case ControlType.Cancel:
                OnCancel(header, body, received);
                return true;
            default:
                return DispatchToHandler(header, body, received);
        }
    }

    private bool DispatchToHandler(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        HandlerEntry? handler = _settings.Handlers.Find(header.Type);
        if (handler is null)
        {
            Refuse(header, received, ErrorCode.UnknownType, $"Message type 0x{header.Type:X4} is not known here.");
            return true;
        }

        if (_end.RefusesRequests)
        {
            Refuse(header, received, ErrorCode.ShuttingDown, "The server is stopping; the request was not run.");
            return true;
        }

        if (_gatekeeper is not null)
        {
            switch (_gatekeeper.Ask(header.Type))
            {
                case GateAnswer.Wait:
                    return false;
                case GateAnswer.Forbidden:
                    Refuse(header, received, ErrorCode.Forbidden, $"This session may not use message type 0x{header.Type:X4}.");
                    return true;
            }
        }

        if (handler.Inline is not null)
        {
            RunInline(handler, header, body, received);
            return true;
        }

        _queue ??= new RequestQueue(this, _settings.Options);
        if (!_queue.TryReserve())
        {
            _gatekeeper?.Keep();
            return false;
        }

        _end.BeginWork();
        _queue.Enqueue(new RequestContext(this, handler, header, RentedBuffer.CopyOf(body), received));
        return true;
    }

    private void RunInline(HandlerEntry handler, in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        var request = new InlineRequest(this, header, body, received);
        try
        {
            handler.Inline!(ref request);
            if (!request.Answered)
            {
                request.Reply(default(EmptyBody));
            }
        }
        catch (RequestRefusedException e) when (header.IsOneWay || !request.Answered)
        {
            request.Fail(e.Code, e.Message);
        }
        catch (Exception e)
        {
            SessionLog.HandlerFailed(_settings.Logger, Session, handler.Name, e);
            handler.Series?.RecordError();
            if (header.IsOneWay)
            {
                CountOneWayFailure(ErrorCode.Internal);
            }
            else if (!request.Answered)
            {
                request.Fail(ErrorCode.Internal, "The request failed inside the server.");
            }
        }

        if (handler.Series is { } series)
        {
            _handled.Add(series, MonotonicClock.Nanoseconds);
        }
    }

    private void DeliverReply(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        ReadOnlySequence<byte> body = input.GetReadableSequence(FrameHeader.Size + header.TimingSize, header.BodySize);
        var reply = new InboundReply(header, body, header.TimingSize == 0 ? default : FrameReader.ReadTiming(input), received);
        if (header.Correlation == 0)
        {
            // About the connection, not about a request: the peer closes it next.
            _settings.Telemetry.Counters.ReplyToNothing();
            if (reply.IsError && !_peerErrorLogged)
            {
                // Once: a peer must not be able to fill the log.
                _peerErrorLogged = true;
                (ErrorCode code, string message) = reply.ReadError();
                SessionLog.PeerError(_settings.Logger, Session, code, message);
            }

            return;
        }

        if (Outstanding.TryRemove(header.Correlation, header.Type, out PendingReply? pending))
        {
            pending!.OnReply(in reply);
            _end.AfterReply();
        }
        else
        {
            _settings.Telemetry.Counters.ReplyToNothing();
        }
    }

    private void OnGoodbye(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CodeBody.TryRead(body.ToArray(), out CodeBody goodbye))
        {
            Refuse(header, received, ErrorCode.MalformedBody, "The body is no Goodbye message.");
            return;
        }

        if (!header.IsOneWay)
        {
            Reply(header, received, default(EmptyBody));
        }

        var reason = new CloseReason(CloseKind.PeerClosed, $"The peer said Goodbye ({goodbye.Code}): {goodbye.Text}", goodbye.Code);
        _settings.Host.OnGoodbye(Session, reason);
        _end.PeerSaidGoodbye(reason);
    }

    private void OnCancel(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CancelBody.TryRead(body.ToArray(), out CancelBody cancel))
        {
            Refuse(header, received, ErrorCode.MalformedBody, "The body is no Cancel message.");
            return;
        }

        if (!header.IsOneWay)
        {
            Reply(header, received, default(EmptyBody));
        }

        _queue?.Cancel(cancel.Correlation);
    }

    internal void Refuse(in FrameHeader header, long received, ErrorCode code, string message)
    {
        if (header.IsOneWay)
        {
            CountOneWayFailure(code);
        }
        else
        {
            ReplyError(header, received, code, message);
        }
    }

    private void ProtocolError(ErrorCode code, ushort type, string message)
    {
        _settings.Telemetry.ErrorSent(code);
        Output.Write(type, FrameFlags.Reply | FrameFlags.Error, 0, 0, new CodeBody(code, message));
        _connection.Close(new CloseReason(CloseKind.ProtocolError, message, code));
    }

    private void SendCancel(uint correlation) => Output.WriteAndFlush(ControlType.Cancel, FrameFlags.OneWay, 0, new CancelBody(correlation));

    private void Heartbeat()
    {
        // One at a time: a peer that lives but answers no Ping must not pile them up.
        Outstanding.TryRemove(_heartbeat, ControlType.Ping, out _);
        if (Outstanding.TryAdd(new HeartbeatReply { Type = ControlType.Ping }, out uint correlation))
        {
            _heartbeat = correlation;
            Output.WriteAndFlush(ControlType.Ping, FrameFlags.None, correlation, default(EmptyBody));
        }
    }

    // Any byte counts as life, so the answer itself needs no attention.
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
