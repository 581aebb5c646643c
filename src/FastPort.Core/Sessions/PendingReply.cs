using System.Buffers;
using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>Why a request got no reply.</summary>
public enum RequestFailure
{
    /// <summary>The connection was lost while the request was in flight; whether it was run is unknown. It is never sent again.</summary>
    ConnectionLost,

    /// <summary>The request's own deadline passed.</summary>
    TimedOut,

    /// <summary>The caller canceled it.</summary>
    Canceled,

    /// <summary>The session was closed already, or the client was, or has lost its connection and does not reconnect. The request was not
    /// sent.</summary>
    Closed,

    /// <summary>
    /// Connecting failed or was cancelled, and nobody tries again until the client's ConnectAsync is called. The request was not sent.
    /// </summary>
    NotConnected,

    /// <summary>The peer has not said Hello yet, so nothing is sent to it unasked. The request was not sent.</summary>
    NotReady,
}

/// <summary>A reply while it is being delivered, on the session's loop. The body is valid until the call returns.</summary>
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

    /// <summary>The body; of an error reply the Error message.</summary>
    public ReadOnlySequence<byte> Body { get; }

    /// <summary>The answering side's timing block; zero where the reply has none.</summary>
    public FrameTiming Timing { get; }

    /// <summary>When the reply was in memory, on this side's monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>Whether the reply is an error.</summary>
    public bool IsError => (Header.Flags & FrameFlags.Error) != 0;

    /// <summary>Reads the error's code and sentence; a body that is no Error message gives Internal.</summary>
    public (ErrorCode Code, string Message) ReadError()
    {
        byte[] bytes = Body.ToArray();
        return CodeBody.TryRead(bytes, out CodeBody error)
            ? (error.Code, error.Text)
            : (ErrorCode.Internal, "The error reply's body is malformed.");
    }
}

/// <summary>
/// A request in flight, waiting for its reply: the allocation-free door for callers with their own bookkeeping (load generators, bridges).
/// An instance can be used again after one of the two calls. Both are made at most once per request; a reply on the session's loop.
/// </summary>
public abstract class PendingReply
{
    /// <summary>When the request was handed to the send queue, on the monotonic clock, in nanoseconds.</summary>
    public long StartedNanoseconds { get; internal set; }

    internal long DeadlineMilliseconds { get; set; }

    internal ushort Type { get; set; }

    /// <summary>The reply came, an error reply included. Must not block.</summary>
    /// <param name="reply">The reply; not to be kept.</param>
    protected internal abstract void OnReply(scoped in InboundReply reply);

    /// <summary>
    /// No reply will come. Must not block: where the request's deadline has passed, the thread that calls checks those of the whole
    /// process.
    /// </summary>
    /// <param name="failure">Why.</param>
    /// <param name="message">A sentence for the caller.</param>
    protected internal abstract void OnFailed(RequestFailure failure, string message);
}
