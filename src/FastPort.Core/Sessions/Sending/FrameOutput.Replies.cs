using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <content>Answers to the peer's requests: a reply or an error. Failures of one-way messages are counted. Any thread.</content>
internal sealed partial class FrameOutput
{
    private volatile bool _carriesCalls;

    /// <summary>Whether the call extension is in force: errors may have a detail, and requests a deadline. Set on the loop, once.</summary>
    public bool CarriesCalls
    {
        get => _carriesCalls;
        set => _carriesCalls = value;
    }

    /// <summary>Answers a request. A reply that exceeds the frame limit becomes an error, whose code is returned; else None.</summary>
    public ErrorCode Reply<TBody>(in FrameHeader request, long received, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        return Write(request.Type, FlagsFor(request), request.Correlation, received, in body) == SendStatus.TooLarge
            ? TooLarge(request, received, body.Size)
            : ErrorCode.None;
    }

    /// <summary>As <see cref="Reply"/>, without copying the body. The body is released exactly once in every case.</summary>
    public ErrorCode ReplyBorrowed(
        in FrameHeader request, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        SendStatus status = WriteBorrowedReply(request.Type, FlagsFor(request), request.Correlation, received, body, release, state);
        if (status == SendStatus.Queued)
        {
            return ErrorCode.None;
        }

        ErrorCode failure = status == SendStatus.TooLarge ? TooLarge(request, received, body.Length) : ErrorCode.None;
        release?.Invoke(state);
        return failure;
    }

    /// <summary>Answers a request with an error.</summary>
    /// <param name="request">The request's header.</param>
    /// <param name="received">When the request was received, in nanoseconds of the monotonic clock.</param>
    /// <param name="code">The code.</param>
    /// <param name="message">A sentence for the requester; truncated to the frame limit.</param>
    /// <param name="detail">
    /// An encoded <c>google.protobuf.Any</c>. Omitted if the peer has not agreed on the extension, or if it exceeds the frame limit.
    /// </param>
    public void Error(
        in FrameHeader request, long received, ErrorCode code, string message, ReadOnlyMemory<byte> detail = default)
    {
        _telemetry.ErrorSent(code);
        Write(
            request.Type,
            FlagsFor(request) | FrameFlags.Error,
            request.Correlation,
            received,
            new CodeBody(code, message, CarriesCalls ? detail : default).CutTo(FrameLimits.MaxBodyBytes(Limit)));
    }

    /// <summary>Answers a request with an error; for a one-way message the error is counted only.</summary>
    public void Refuse(in FrameHeader request, long received, ErrorCode code, string message)
    {
        if (request.IsOneWay)
        {
            CountOneWayFailure(code);
        }
        else
        {
            Error(request, received, code, message);
        }
    }

    public void CountOneWayFailure(ErrorCode code) => _telemetry.Counters.OneWayFailed((uint)code);

    /// <summary>Writes an error that concerns the connection, and closes it. On the loop.</summary>
    public void ProtocolError(ErrorCode code, ushort type, string message)
    {
        _telemetry.ErrorSent(code);
        Write(type, FrameFlags.Reply | FrameFlags.Error, 0, 0, new CodeBody(code, message));
        _connection.Close(new CloseReason(CloseKind.ProtocolError, message, (uint)code));
    }

    /// <summary>Refuses a request with Unauthenticated (a one-way message is counted only) and closes. On the loop.</summary>
    /// <param name="request">The refused request.</param>
    /// <param name="received">When it was received, in nanoseconds of the monotonic clock.</param>
    /// <param name="reason">The close reason, for the log.</param>
    /// <param name="message">The sentence for the peer. Defaults to the reason's message.</param>
    public void RefuseUnauthenticated(in FrameHeader request, long received, CloseReason reason, string? message = null)
    {
        Refuse(request, received, ErrorCode.Unauthenticated, message ?? reason.Message);
        _connection.Close(reason);
    }

    private static FrameFlags FlagsFor(in FrameHeader request) => FrameFlags.Reply | (request.Flags & FrameFlags.Timing);

    private ErrorCode TooLarge(in FrameHeader request, long received, int size)
    {
        Error(
            request, received, ErrorCode.ReplyTooLarge,
            $"The reply's body has {size} bytes; the frame limit allows {FrameLimits.MaxBodyBytes(Limit)}.");
        return ErrorCode.ReplyTooLarge;
    }
}
