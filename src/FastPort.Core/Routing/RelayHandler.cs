using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Routing;

/// <summary>Handles Relay. Thread-safe.</summary>
internal sealed class RelayHandler(RoutingOptions options, IMessageRouter router, SessionCounters counters)
{
    public void Handle(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope relay))
        {
            request.Fail(ErrorCode.MalformedBody, RoutedEnvelope.NotARelay);
        }
        else if (relay.Address.Length > RoutingIdLimits.MaxBytes)
        {
            NotFound(ref request, "No session has a routing id of more than 256 characters.");
        }
        else if (relay.NeedsBuffer)
        {
            Relay(ref request, relay, stackalloc byte[RoutingIdLimits.MaxBytes]);
        }
        else
        {
            Relay(ref request, relay, default);
        }
    }

    private void Relay(ref InlineRequest request, in RoutedEnvelope relay, scoped Span<byte> buffer)
    {
        if (!relay.TryGetAddress(buffer, out ReadOnlySpan<byte> to))
        {
            request.Fail(ErrorCode.MalformedBody, "The routing id in 'to' is not valid UTF-8.");
            return;
        }

        if (!request.IsOneWay && !request.Detached.HasRoom)
        {
            // The maximum number of requests already waits for other servers.
            request.Postpone(request.Detached.WhenRoomAsync(), TimeSpan.Zero);
            return;
        }

        // The sender's 'from' is replaced: the receiver must be able to trust it.
        var body = new RoutedBody(to, relay.Type, relay.Body, RoutingIdentity.Of(request.Session)?.FromField);
        SendStatus status;
        if (request.IsOneWay)
        {
            status = router.TrySend(to, ControlType.Relay, in body);
        }
        else
        {
            ValueTask<SendStatus> sending = router.SendAsync(to, ControlType.Relay, in body);
            if (!sending.IsCompleted)
            {
                request.Detach(new ForwardedRelay(request.Protocol, request.Header, request.ReceivedNanoseconds, to, sending, this));
                return;
            }

            status = sending.Result;
        }

        switch (status)
        {
            case SendStatus.Queued:
                counters.Relayed();
                break;
            case SendStatus.Full when !request.IsOneWay && request.IsOverdue:
                counters.RelayFailed(RelayFailure.TimedOut);
                request.Fail(ErrorCode.Timeout, NoRoom(to));
                break;
            case SendStatus.Full:
                // Postponing the request stops reading from the sender, as its own full queue would: the order is kept, and its data stays
                // in its receive ring.
                counters.RelayWaited();
                var wait = new CancellationTokenSource();
                request.Postpone(new Postponement(
                    router.WhenWritableAsync(to, wait.Token), request.IsOneWay ? TimeSpan.Zero : options.RelayTimeout, wait));
                break;
            case SendStatus.TooLarge when body.Size > request.Session.MaxBodyBytes:
                counters.RelayFailed(RelayFailure.TooLarge);
                request.Fail(
                    ErrorCode.MalformedBody,
                    $"With 'from' added the message has {body.Size} bytes; the frame limit allows {request.Session.MaxBodyBytes}.");
                break;
            default:
                (ErrorCode code, string message) = Failed(status, to);
                request.Fail(code, message);
                break;
        }
    }

    /// <summary>Counts a relay that was not delivered, and reports that to its sender.</summary>
    public (ErrorCode Code, string Message) Failed(SendStatus status, ReadOnlySpan<byte> to)
    {
        (RelayFailure failure, ErrorCode code, string message) = status switch
        {
            SendStatus.Dropped => (RelayFailure.Dropped, ErrorCode.Overloaded,
                $"The send queue of '{Text(to)}' is full, and its policy drops messages then."),
            SendStatus.TooLarge => (RelayFailure.TooLarge, ErrorCode.MalformedBody,
                $"With 'from' added the message exceeds the frame limit of '{Text(to)}', or the limit of what servers forward."),
            SendStatus.Full => (RelayFailure.TimedOut, ErrorCode.Timeout, NoRoom(to)),
            SendStatus.Unavailable => (RelayFailure.Unavailable, ErrorCode.Unavailable,
                $"'{Text(to)}' is not on this server, and the other servers cannot be reached now; the message was not relayed."),
            SendStatus.Unconfirmed => (RelayFailure.TimedOut, ErrorCode.Timeout,
                $"The server of '{Text(to)}' has not confirmed the message; whether it was delivered is unknown."),
            _ => (RelayFailure.NotFound, ErrorCode.NotFound, $"No session has the routing id '{Text(to)}'."),
        };
        counters.RelayFailed(failure);
        return (code, message);
    }

    // If this server has no limit, the other server has one.
    private string NoRoom(ReadOnlySpan<byte> to)
    {
        string time = options.RelayTimeout > TimeSpan.Zero ? $"for {options.RelayTimeout.TotalSeconds:0.###} s" : "in time";
        return $"The send queue of '{Text(to)}' had no room {time}; the message was not relayed.";
    }

    public void Relayed() => counters.Relayed();

    private void NotFound(ref InlineRequest request, string message)
    {
        counters.RelayFailed(RelayFailure.NotFound);
        request.Fail(ErrorCode.NotFound, message);
    }

    private static string Text(ReadOnlySpan<byte> utf8) => System.Text.Encoding.UTF8.GetString(utf8);
}
