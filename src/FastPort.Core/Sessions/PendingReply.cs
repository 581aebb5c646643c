using System.Buffers;
using FastPort.Framing;

namespace FastPort;

/// <summary>Why a request got no reply.</summary>
public enum RequestFailure
{
    /// <summary>
    /// The connection was lost while the request was in flight. It is unknown whether the request was run. It is not retried.
    /// </summary>
    ConnectionLost,

    /// <summary>The request's deadline passed.</summary>
    TimedOut,

    /// <summary>The caller canceled the request.</summary>
    Canceled,

    /// <summary>
    /// The session or the client is closed, or the client has lost its connection and does not reconnect. The request was not sent.
    /// </summary>
    Closed,

    /// <summary>
    /// ConnectAsync was not called yet, or it failed or was canceled; the client does not connect until it is called. The request was not
    /// sent.
    /// </summary>
    NotConnected,

    /// <summary>The peer has not said Hello yet, so unsolicited messages are not sent to it. The request was not sent.</summary>
    NotReady,

    /// <summary>The call streams, and the peer has not agreed on streams in its Hello or Welcome. The request was not sent.</summary>
    NotSupported,
}

/// <summary>A reply during its delivery on the session's loop. The body is valid until the call returns.</summary>
public readonly ref struct InboundReply
{
    internal InboundReply(in FrameHeader header, ReadOnlySequence<byte> body, in FrameTiming timing, long received)
    {
        Header = header;
        Body = body;
        Timing = timing;
        ReceivedNanoseconds = received;
    }

    /// <summary>The reply's header.</summary>
    public FrameHeader Header { get; }

    /// <summary>The body; for an error reply, the Error message.</summary>
    public ReadOnlySequence<byte> Body { get; }

    /// <summary>The timing block of the answering side; zero if the reply has none.</summary>
    public FrameTiming Timing { get; }

    /// <summary>When the reply was complete in memory, on this side's monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>Whether the reply is an error.</summary>
    public bool IsError => (Header.Flags & FrameFlags.Error) != 0;

    /// <summary>Reads the error's code and sentence. A malformed body gives Internal.</summary>
    public (ErrorCode Code, string Message) ReadError()
    {
        byte[] bytes = Body.ToArray();
        return CodeBody.TryRead(bytes, out CodeBody error)
            ? (error.Code, error.Text)
            : (ErrorCode.Internal, "The error reply's body is malformed.");
    }

    /// <summary>The error as an exception, with its detail.</summary>
    internal RequestFailedException ReadFailure() =>
        CodeBody.TryRead(Body.ToArray(), out CodeBody error)
            ? new RequestFailedException(error.Code, error.Text, error.Detail)
            : new RequestFailedException(ErrorCode.Internal, "The error reply's body is malformed.");
}

/// <summary>
/// A request in flight that waits for its reply, without an allocation per request, for callers with their own bookkeeping (load
/// generators, bridges). For each request one of the two methods is called, at most once. After that call the instance can be used again.
/// An exception from a method is logged and affects neither the session nor its caller.
/// </summary>
public abstract class PendingReply
{
    /// <summary>When the request was written to the send queue, on the monotonic clock, in nanoseconds.</summary>
    public long StartedNanoseconds { get; internal set; }

    internal long DeadlineMilliseconds { get; set; }

    /// <summary>Whether the request tells its receiver the time limit.</summary>
    internal virtual bool SendsDeadline => false;

    /// <summary>Set by <see cref="Sessions.Requests.OutstandingRequests"/>.</summary>
    internal uint Correlation { get; set; }

    internal ushort Type { get; set; }

    /// <summary>The reply arrived, possibly an error reply. Called on the session's loop. Must not block.</summary>
    /// <param name="reply">The reply; valid until the call returns.</param>
    protected internal abstract void OnReply(scoped in InboundReply reply);

    /// <summary>
    /// No reply will arrive. Called on the session's loop, or on the thread that called <see cref="Session.Cancel"/>. Must not block.
    /// </summary>
    /// <param name="failure">Why there is no reply.</param>
    /// <param name="message">A sentence for the caller.</param>
    protected internal abstract void OnFailed(RequestFailure failure, string message);
}
