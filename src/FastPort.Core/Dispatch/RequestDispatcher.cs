using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Sending;
using FastPort.Telemetry;

namespace FastPort.Dispatch;

/// <summary>
/// Brings a session's requests to their handlers, which start in the order of arrival: inline ones run here, on the loop, unless earlier
/// ones still wait in the session's <see cref="RequestQueue"/>, where queued ones go and inline ones follow them. Loop only, except
/// <see cref="RunDeferred"/> and <see cref="HandlerFailed"/>, which come from the queue.
/// </summary>
internal sealed class RequestDispatcher(FrameProtocol protocol, DispatchSettings dispatch) : SessionDispatcher
{
    private readonly SessionSettings _settings = protocol.Settings;
    private readonly Replies _replies = protocol.Replies;
    private readonly AuthorizationGate? _gate =
        dispatch.Authorizer is { } authorizer ? new AuthorizationGate(authorizer, protocol) : null;
    private readonly SlowHandlerWatch _watch = new(protocol.Settings);
    private RequestQueue? _queue;

    // The handler of the last frame.
    private HandlerEntry? _found;

    // What the frame at hand waits for; null where it waits for nothing.
    private Postponement? _postponed;

    public override bool IsOverdue => _postponed?.IsOverdue(_settings.Clock.PreciseMilliseconds) == true;

    /// <summary>How the frame at hand was postponed; null where it was not.</summary>
    public Postponement? Postponed => _postponed;

    public override void BeginBurst(long received, long now)
    {
        Handled = HandledBurst.Begin(received, now, protocol.SessionSeries);
        _watch.BeginBurst(now);
    }

    public override void EndBurst()
    {
        Handled.End();
        _watch.EndBurst(protocol.Session);
    }

    public override bool TryDispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        Postponement? postponed = _postponed;
        if (postponed is { Until.IsCompleted: false } && !IsOverdue)
        {
            // Resumed by something else.
            return false;
        }

        HandlerEntry? handler = Find(header.Type);
        if (handler is null || (protocol.Shutdown.RefusesRequests && postponed is not { HasBegun: true }))
        {
            _postponed = null;
            Refuse(header, received, isKnown: handler is not null);
            return true;
        }

        if (_gate is not null && !Admits(_gate, handler, header, input, received, out bool refused))
        {
            return refused;
        }

        if (handler.Inline is not null && (_queue is null || !_queue.HoldsBack || (handler.StaysOnLoop && _queue.TryAwaitStarts())))
        {
            var request = new InlineRequest(protocol, header, input, received);
            _watch.Handling(handler);
            if (Invoke(handler, ref request) is { } again)
            {
                PauseUntil(again, postponed);
                return false;
            }

            if (postponed is not null)
            {
                _postponed = null;
            }

            _watch.Handled(handler);
            if (handler.Series is { } series && !Handled.TryAdd(series))
            {
                Handled.Add(series, MonotonicClock.Nanoseconds);
            }

            return true;
        }

        if (handler.StaysOnLoop)
        {
            _gate?.Keep();
            return false;
        }

        _queue ??= new RequestQueue(protocol, this, _settings.Options);
        if (!_queue.TryReserve())
        {
            _gate?.Keep();
            return false;
        }

        protocol.Shutdown.BeginWork();
        _queue.Enqueue(
            new RequestContext(
                protocol, handler, header, RentedBuffer.CopyOf(
                    input.GetReadableSequence(FrameHeader.Size, header.BodySize), _settings.Options.Pool), received));
        return true;
    }

    public override void Cancel(uint correlation) => _queue?.Cancel(correlation);

    /// <summary>Runs an inline handler that had to wait its turn, on the queue's worker. None that postpones gets here.</summary>
    public void RunDeferred(RequestContext deferred)
    {
        var request = new InlineRequest(protocol, deferred);
        _ = Invoke(deferred.Handler, ref request);
    }

    /// <summary>A queued handler threw; any thread.</summary>
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

        SessionLog.HandlerFailed(_settings.Logger, protocol.Session, request.Handler.Name, exception);
        if (request.IsOneWay)
        {
            _replies.CountOneWayFailure(ErrorCode.Internal);
        }
        else if (!request.Answered)
        {
            request.Fail(ErrorCode.Internal, "The request failed inside the server.");
        }
    }

    public override void OnTick(long nowMilliseconds)
    {
        _gate?.OnTick(nowMilliseconds);
        if (_postponed?.IsOverdue(nowMilliseconds) == true)
        {
            protocol.ResumeReading();
        }
    }

    public override long Watch(long nowMilliseconds, bool burstIsDue) => _watch.Watch(protocol.Session, nowMilliseconds, burstIsDue);

    public override void OnClosed()
    {
        _queue?.Complete();
        _gate?.OnClosed();
    }

    // Messages of one type come in a row.
    private HandlerEntry? Find(ushort type)
    {
        HandlerEntry? handler = _found;
        if (handler is null || handler.Type != type)
        {
            _found = handler = dispatch.Handlers.Find(type) ?? dispatch.FrameworkHandlers?.Find(type);
        }

        return handler;
    }

    // Apart, as is the next one: inlined, their texts would need room on the stack that is cleared for every message.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Refuse(in FrameHeader header, long received, bool isKnown)
    {
        if (isKnown)
        {
            _replies.Refuse(header, received, ErrorCode.ShuttingDown, "The server is stopping; the request was not run.");
        }
        else
        {
            _replies.Refuse(header, received, ErrorCode.UnknownType, $"Message type 0x{header.Type:X4} is not known here.");
        }
    }

    // Where it says no, the request was refused, or is to be asked about again.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Admits(
        AuthorizationGate gate, HandlerEntry handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received, out bool refused)
    {
        refused = true;
        var request = new AuthorizationRequest(protocol.Session, header.Type);
        if (handler.ReadAddress is { } readAddress && gate.AsksNext
            && !readAddress(input.GetReadableSequence(FrameHeader.Size, header.BodySize), ref request))
        {
            // Its handler refuses it, as it cannot read it either.
            return true;
        }

        switch (gate.Ask(request))
        {
            case GateAnswer.Wait:
                refused = false;
                return false;
            case GateAnswer.Forbidden:
                _replies.Refuse(header, received, ErrorCode.Forbidden, request.IsAddressed
                        ? $"This session may not use message type 0x{header.Type:X4} for '{request.Topic ?? request.Target}'."
                        : $"This session may not use message type 0x{header.Type:X4}.");
                return false;
            case GateAnswer.TimedOut:
                _replies.Refuse(
                    header,
                    received,
                    ErrorCode.Timeout,
                    $"The server's authorizer did not answer within {_settings.Options.AuthorizationTimeout.TotalSeconds:0.###} s; the "
                    + "request was not run.");
                return false;
            default:
                refused = false;
                return true;
        }
    }

    // The frame stays in the ring, to be seen again; the authorizer has allowed it.
    private void PauseUntil(Postponement postponed, Postponement? before)
    {
        _gate?.Keep();
        postponed.Begin(before, _settings.Clock);
        _postponed = postponed;
        if (postponed.Until.IsCompleted)
        {
            protocol.ResumeReading();
        }
        else
        {
            postponed.Until.GetAwaiter().UnsafeOnCompleted(protocol.ResumeReading);
        }
    }

    // Null where the request was handled; else what its handler waits for.
    private Postponement? Invoke(HandlerEntry handler, ref InlineRequest request)
    {
        try
        {
            handler.Inline!(ref request);
            if (request.PostponedUntil is null && !request.Answered)
            {
                request.Reply(default(EmptyBody));
            }
        }
        catch (RequestRefusedException e) when (request.IsOneWay || !request.Answered)
        {
            request.Fail(e.Code, e.Message);
        }
        catch (Exception e)
        {
            SessionLog.HandlerFailed(_settings.Logger, protocol.Session, handler.Name, e);
            handler.Series?.RecordError();
            if (request.IsOneWay)
            {
                _replies.CountOneWayFailure(ErrorCode.Internal);
            }
            else if (!request.Answered)
            {
                request.Fail(ErrorCode.Internal, "The request failed inside the server.");
            }
        }

        return request.PostponedUntil;
    }
}
