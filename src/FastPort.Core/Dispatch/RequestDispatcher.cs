using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Sending;
using FastPort.Sessions.Tracing;
using FastPort.Telemetry;

namespace FastPort.Dispatch;

/// <summary>
/// Passes a session's requests to their handlers, which start in arrival order. Inline handlers run here, on the loop. Queued ones go to
/// the session's <see cref="RequestQueue"/>, and inline ones follow them if requests are waiting there. Loop only, except
/// <see cref="RunQueuedInline"/> and <see cref="HandlerFailed"/>, which the queue calls.
/// </summary>
internal sealed partial class RequestDispatcher(FrameProtocol protocol, DispatchSettings dispatch) : SessionDispatcher
{
    /// <summary>The sentence for the peer when a handler has thrown, on either side.</summary>
    internal const string HandlerFailedText = "The handler failed; the log of the program that has it says why.";

    private readonly SessionSettings _settings = protocol.Settings;
    private readonly SessionEnd _end = protocol.End;
    private readonly FrameOutput _output = protocol.Output;
    private readonly AuthorizationGate? _gate =
        dispatch.Authorizer is { } authorizer ? new AuthorizationGate(authorizer, protocol.Settings, protocol.Session) : null;
    private readonly SlowHandlerWatch _watch = new(protocol.Settings);
    private RequestQueue? _queue;

    // The handler of the previous frame.
    private HandlerEntry? _found;

    // That handler if it may be called at once: it is inline, and there is no queue, no postponement, no authorizer and no trace listener.
    // Null otherwise.
    private HandlerEntry? _direct;

    // The operation that the current frame waits for; null if it does not wait.
    private Postponement? _postponed;

    public override bool IsOverdue => _postponed?.IsOverdue(_settings.Clock.PreciseMilliseconds) == true;

    public override bool HoldsFrame => _postponed is not null || _gate is { HasAsked: true };

    public override bool WaitsForPeer => _postponed is { IsForPeer: true };

    /// <summary>The postponement of the current frame; null if there is none.</summary>
    public Postponement? Postponed => _postponed;

    public override void BeginBurst(long received, long now)
    {
        Handled = HandledBurst.Begin(received, now, protocol.SessionSeries);
        _watch.BeginBurst(now);
        if (Traces.IsOn)
        {
            // A listener may have begun since the last burst.
            _direct = null;
        }
    }

    public override void EndBurst()
    {
        Handled.End();
        _watch.EndBurst(protocol.Session);
        _itemsOf = null;
    }

    public override bool TryDispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        HandlerEntry? handler = _direct;
        return handler is not null && handler.Type == header.Type && !_end.RefusesRequests
            ? Run(handler, header, input, received, postponed: null, isTraced: false)
            : TryDispatchAny(header, input, received);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryDispatchAny(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        Postponement? postponed = _postponed;
        bool refuses = _end.RefusesRequests && postponed is not { HasBegun: true };
        if (postponed is { Until.IsCompleted: false } && !IsOverdue && !refuses)
        {
            // The session was resumed for another reason.
            return false;
        }

        HandlerEntry? handler = Find(header.Type);
        if (_opening is { } opening && (header.IsOneWay || opening.Correlation != header.Correlation))
        {
            // The announced call has not come.
            _opening = null;
        }

        if (_opening is not null || handler is { Stream: not null })
        {
            return TryDispatchStream(handler, header, input, received);
        }

        if (handler is null || refuses)
        {
            EndPostponed(nameof(ErrorCode.ShuttingDown));
            Refuse(header, received, isKnown: handler is not null);
            return true;
        }

        bool runsHere = handler.Inline is not null
            && (_queue is null || !_queue.HoldsBack || (handler.StaysOnLoop && _queue.TryAwaitStarts()));
        _direct = runsHere && _queue is null && _gate is null && !Traces.IsOn ? handler : null;
        if (!runsHere && (handler.StaysOnLoop || !(_queue ??= CreateQueue()).TryReserve()))
        {
            // Before the authorizer is asked: its answer may differ when the frame's turn has come.
            return false;
        }

        if (_gate is not null && !Admits(_gate, handler, header, input, received, out bool refused))
        {
            return refused;
        }

        if (runsHere)
        {
            return Run(handler, header, input, received, postponed, Traces.IsOn);
        }

        _end.BeginWork();
        HandlerEntry entry = Traces.IsOn && Trace(handler, header, input) is { } activity ? new TracedEntry(handler, activity) : handler;
        var queued = new RequestContext(
            protocol, entry, header, RentedBuffer.CopyOf(
                input.GetReadableSequence(header.BodyOffset, header.BodySize), _settings.Options.Pool), received,
            DeadlineBlock.Read(header, input));
        if (handler.BeginsOnLoop)
        {
            _watch.Handling(handler);
            _queue!.BeginOrEnqueue(queued, Handled);
            _watch.Handled(handler);
        }
        else
        {
            _queue!.Enqueue(queued);
        }

        return true;
    }

    // On the loop. False if the handler has postponed the request. Inlined: the call without a postponement has few instructions.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Run(
        HandlerEntry handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received, Postponement? postponed, bool isTraced)
    {
        var request = new InlineRequest(protocol, header, input, received);
        _watch.Handling(handler);
        Postponement? again = isTraced || postponed is not null
            ? InvokeTraced(handler, ref request, header, input, postponed)
            : Invoke(handler, ref request);
        if (again is not null)
        {
            PauseUntil(again, postponed);
            return false;
        }

        if (postponed is not null)
        {
            _postponed = null;
            postponed.End();
        }

        _watch.Handled(handler);
        if (handler.Series is { } series && !Handled.TryAdd(series))
        {
            Handled.Add(series, MonotonicClock.Nanoseconds);
        }

        return true;
    }

    public override void Cancel(uint correlation)
    {
        _queue?.Cancel(correlation);
        _streams?.Find(correlation)?.Abort();
    }

    /// <summary>
    /// Runs an inline handler that had to wait, on the queue's worker. Handlers that postpone stay on the loop and never get here.
    /// </summary>
    public void RunQueuedInline(RequestContext queued)
    {
        var request = new InlineRequest(protocol, queued);
        if (queued.Handler is not TracedEntry traced)
        {
            _ = Invoke(queued.Handler, ref request);
            return;
        }

        Activity.Current = traced.Activity;
        _ = Invoke(traced, ref request);
        if (request.Failure != ErrorCode.None)
        {
            traced.Failed(request.Failure);
        }
    }

    /// <summary>Handles an exception of a queued handler. Any thread.</summary>
    public void HandlerFailed(RequestContext request, Exception exception)
    {
        if (exception is OperationCanceledException && request.Aborted.IsCancellationRequested)
        {
            return;
        }

        if (exception is RequestRefusedException refusal && (request.IsOneWay || !request.Answered))
        {
            request.FailWith(refusal.Code, refusal.Message, refusal.Detail);
            return;
        }

        HandlerThrew(request.Handler, exception);
        if (request.IsOneWay || !request.Answered)
        {
            request.Fail(ErrorCode.Internal, HandlerFailedText);
        }
        else
        {
            request.Failed(ErrorCode.Internal);
        }
    }

    public override void OnTick(long nowMilliseconds)
    {
        _gate?.OnTick(nowMilliseconds);
        if (_postponed?.IsOverdue(nowMilliseconds) == true)
        {
            protocol.Session.Connection.ResumeReading();
        }
    }

    public override long Watch(long nowMilliseconds, bool burstIsDue) => _watch.Watch(protocol.Session, nowMilliseconds, burstIsDue);

    public override void OnClosed()
    {
        _queue?.Complete();
        EndStreams(ErrorCode.None);
        _gate?.OnClosed();
        EndPostponed(nameof(RequestFailure.Canceled));
    }

    private RequestQueue CreateQueue() => new(protocol, this, _settings.Options, dispatch.Handlers.AnyBeginsOnLoop);

    // Consecutive messages often have the same type.
    private HandlerEntry? Find(ushort type)
    {
        HandlerEntry? handler = _found;
        if (handler is null || handler.Type != type)
        {
            _found = handler = dispatch.Handlers.Find(type) ?? dispatch.FrameworkHandlers?.Find(type);
        }

        return handler;
    }

    // Refuse and Admits are not inlined: stack space for their strings would be cleared for every message.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Refuse(in FrameHeader header, long received, bool isKnown)
    {
        if (isKnown)
        {
            _output.Refuse(header, received, ErrorCode.ShuttingDown, "This session is closing; the request was not run.");
        }
        else
        {
            _output.Refuse(header, received, ErrorCode.UnknownType, $"Message type 0x{header.Type:X4} is not known here.");
        }
    }

    // If false, the request was refused (refused is true), or the authorizer has not answered and the frame is seen again.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Admits(
        AuthorizationGate gate, HandlerEntry handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received, out bool refused)
    {
        refused = true;
        var request = new AuthorizationRequest(protocol.Session, header.Type);
        if (handler.ReadAddress is { } readAddress && !gate.HasAsked
            && !readAddress(input.GetReadableSequence(header.BodyOffset, header.BodySize), ref request))
        {
            // The handler cannot read the address either, and refuses the message.
            return true;
        }

        switch (gate.Ask(request))
        {
            case GateAnswer.Wait:
                refused = false;
                return false;
            case GateAnswer.Forbidden:
                if (!request.IsAddressed)
                {
                    // The answer has come later than the question.
                    handler.ReadAddress?.Invoke(input.GetReadableSequence(header.BodyOffset, header.BodySize), ref request);
                }

                _output.Refuse(header, received, ErrorCode.Forbidden, request.IsAddressed
                        ? $"This session may not use message type 0x{header.Type:X4} for '{request.Topic ?? request.Target}'."
                        : $"This session may not use message type 0x{header.Type:X4}.");
                return false;
            case GateAnswer.TimedOut:
                _output.Refuse(
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

    // The frame stays in the ring and is seen again. The authorizer has allowed it and is not asked again.
    private void PauseUntil(Postponement postponed, Postponement? before)
    {
        _gate?.Keep();
        postponed.Begin(before, _settings.Clock);
        before?.End();
        _postponed = postponed;
        _direct = null;
        if (postponed.Until.IsCompleted)
        {
            protocol.Session.Connection.ResumeReading();
        }
        else
        {
            postponed.Until.GetAwaiter().UnsafeOnCompleted(protocol.Session.Connection.ResumeReading);
        }
    }

    // Returns null if the request was handled, otherwise the postponement. Leaves no context behind, also not the request's activity.
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
            request.FailWith(e.Code, e.Message, e.Detail);
        }
        catch (Exception e)
        {
            HandlerThrew(handler, e);
            if (request.IsOneWay || !request.Answered)
            {
                request.Fail(ErrorCode.Internal, HandlerFailedText);
            }
            else
            {
                request.Failure = ErrorCode.Internal;
            }
        }

        NoContext.Restore();
        return request.PostponedUntil;
    }

    private void HandlerThrew(HandlerEntry handler, Exception exception)
    {
        SessionLog.HandlerFailed(_settings.Logger, protocol.Session, handler.Name, exception);
        handler.Series?.RecordError();
        protocol.SessionSeries?.RecordError();
    }

    // As Invoke, within the request's activity: begun here, or with the first attempt of a postponed request.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Postponement? InvokeTraced(
        HandlerEntry handler, ref InlineRequest request, in FrameHeader header, ArrayPoolCircularBuffer input, Postponement? postponed)
    {
        Activity? activity = postponed is null ? Trace(handler, header, input) : postponed.Activity;
        if (activity is null)
        {
            return Invoke(handler, ref request);
        }

        Activity.Current = activity;
        Postponement? again = Invoke(handler, ref request);
        if (again is not null)
        {
            again.Activity = activity;
        }
        else if (request.DetachedTo is null)
        {
            if (request.Failure != ErrorCode.None)
            {
                Traces.SetFailed(activity, request.Failure.ToString());
            }

            Traces.Stop(activity, protocol);
        }

        return again;
    }

    private Activity? Trace(HandlerEntry handler, in FrameHeader header, ArrayPoolCircularBuffer input)
    {
        Activity? activity = Traces.StartIncoming(
            handler.Type, handler.Name, header.IsOneWay, header.TraceSize == 0 ? default : TraceBlock.Read(input));
        Traces.SetPeer(activity, protocol.Session.RemoteEndPoint);
        return activity;
    }

    // A postponed request will not be handled.
    private void EndPostponed(string errorType)
    {
        if (_postponed?.Activity is { } activity)
        {
            Traces.SetFailed(activity, errorType);
            Traces.Stop(activity, protocol);
        }

        Postponement? ended = _postponed;
        _postponed = null;
        ended?.End();
    }
}
