using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <summary>
/// Answers the peer's requests with a reply or an error; failures of one-way messages are counted. Safe from any thread.
/// </summary>
internal sealed class Replies(FrameOutput output, SessionTelemetry telemetry)
{
    /// <summary>Answers a request. A reply that exceeds the frame limit becomes an error, whose code is returned; else None.</summary>
    public ErrorCode Reply<TBody>(in FrameHeader request, long received, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        return output.Write(request.Type, FlagsFor(request), request.Correlation, received, in body) == SendStatus.TooLarge
            ? TooLarge(request, received, body.Size)
            : ErrorCode.None;
    }

    /// <summary>As <see cref="Reply"/>, without copying the body. The body is released exactly once in every case.</summary>
    public ErrorCode ReplyBorrowed(
        in FrameHeader request, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        SendStatus status = output.WriteBorrowedReply(request.Type, FlagsFor(request), request.Correlation, received, body, release, state);
        if (status == SendStatus.Queued)
        {
            return ErrorCode.None;
        }

        ErrorCode failure = status == SendStatus.TooLarge ? TooLarge(request, received, body.Length) : ErrorCode.None;
        release?.Invoke(state);
        return failure;
    }

    public void Error(in FrameHeader request, long received, ErrorCode code, string message)
    {
        telemetry.ErrorSent(code);
        output.Write(
            request.Type,
            FlagsFor(request) | FrameFlags.Error,
            request.Correlation,
            received,
            new CodeBody(code, message).CutTo(FrameLimits.MaxBodyBytes(output.Limit)));
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

    public void CountOneWayFailure(ErrorCode code) => telemetry.Counters.OneWayFailed((uint)code);

    /// <summary>Writes an error that concerns the connection; the caller closes the connection.</summary>
    public void ProtocolError(ErrorCode code, ushort type, string message)
    {
        telemetry.ErrorSent(code);
        output.Write(type, FrameFlags.Reply | FrameFlags.Error, 0, 0, new CodeBody(code, message));
    }

    private static FrameFlags FlagsFor(in FrameHeader request) => FrameFlags.Reply | (request.Flags & FrameFlags.Timing);

    private ErrorCode TooLarge(in FrameHeader request, long received, int size)
    {
        Error(
            request, received, ErrorCode.ReplyTooLarge,
            $"The reply's body has {size} bytes; the frame limit allows {FrameLimits.MaxBodyBytes(output.Limit)}.");
        return ErrorCode.ReplyTooLarge;
    }
}
