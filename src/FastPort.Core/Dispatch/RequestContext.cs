using FastPort.Buffers;
using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Dispatch;

/// <summary>
/// A request or one-way message that left the loop for a queued handler. It owns a copy of the body, valid until the handler's task ends.
/// One thread at a time may use it, as with any async method's state; <see cref="Aborted"/> is safe from any thread.
/// </summary>
public sealed class RequestContext
{
    private readonly FrameProtocol _protocol;
    private readonly FrameHeader _header;
    private readonly Lock _gate = new();
    private RentedBuffer _body;
    private CancellationTokenSource? _abort;
    private volatile bool _detached;
    private volatile bool _aborted;
    private bool _ended;
    private bool _answered;

    internal RequestContext(FrameProtocol protocol, HandlerEntry handler, in FrameHeader header, RentedBuffer body, long received)
    {
        _protocol = protocol;
        _header = header;
        _body = body;
        Handler = handler;
        ReceivedNanoseconds = received;
        _answered = header.IsOneWay;
    }

    /// <summary>The session the message came from.</summary>
    public Session Session => _protocol.Session;

    /// <summary>Message type.</summary>
    public ushort Type => _header.Type;

    /// <summary>Correlation; 0 on one-way messages.</summary>
    public uint Correlation => _header.Correlation;

    /// <summary>Whether no reply is wanted; replies are then ignored.</summary>
    public bool IsOneWay => _header.IsOneWay;

    /// <summary>The body. Valid until the handler's task ends.</summary>
    public ReadOnlyMemory<byte> Body => _body.Memory;

    /// <summary>When the message was in memory, on the monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>Whether an answer has been given (always true for one-way messages).</summary>
    public bool Answered => _answered;

    /// <summary>Cancelled when the requester no longer wants the reply, or the session has ended. Made on first use.</summary>
    public CancellationToken Aborted
    {
        get
        {
            lock (_gate)
            {
                if (_aborted)
                {
                    return new CancellationToken(canceled: true);
                }

                if (_ended)
                {
                    return CancellationToken.None;
                }

                return (_abort ??= new CancellationTokenSource()).Token;
            }
        }
    }

    internal HandlerEntry Handler { get; }

    internal FrameHeader Header => _header;

    internal int BodySize => _body.Length;

    /// <summary>Answers. The body is encoded straight into the send ring; a body over the frame limit becomes the error ReplyTooLarge.</summary>
    /// <param name="body">The reply's body.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply<TBody>(scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (Answer())
        {
            _protocol.Reply(_header, ReceivedNanoseconds, in body);
            FlushIfDetached();
        }
    }

    /// <summary>Answers with these bytes as the body.</summary>
    /// <param name="body">The reply's body; copied.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply(scoped ReadOnlySpan<byte> body) => Reply(new RawBody(body));

    /// <summary>Answers with an error. For a one-way message it is counted only.</summary>
    /// <param name="code">The code; the connection stays open whatever it is.</param>
    /// <param name="message">A sentence for the requester. Name no internals.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Fail(ErrorCode code, string message)
    {
        if (_header.IsOneWay)
        {
            _protocol.CountOneWayFailure(code);
        }
        else if (Answer())
        {
            _protocol.ReplyError(_header, ReceivedNanoseconds, code, message);
            FlushIfDetached();
        }
    }

    internal bool IsAborted => _aborted;

    /// <summary>
    /// The handler has awaited: from here on its replies are flushed one by one, as the worker does not wait for it. What it wrote before is
    /// flushed now.
    /// </summary>
    internal void Detach()
    {
        _detached = true;
        _protocol.Flush();
    }

    /// <summary>The requester or the session is gone: cancels the token. Callbacks run on the pool, not on the caller's thread.</summary>
    internal void Abort()
    {
        CancellationTokenSource? abort;
        lock (_gate)
        {
            _aborted = true;
            abort = _ended ? null : _abort;
        }

        // Asynchronously: the loop must not run a handler's cancellation callbacks.
        _ = abort?.CancelAsync();
    }

    /// <summary>Gives the body back; the handler has ended or will never start.</summary>
    internal void End()
    {
        lock (_gate)
        {
            _ended = true;
        }

        _body.Dispose();
    }

    private void FlushIfDetached()
    {
        if (_detached)
        {
            _protocol.Flush();
        }
    }

    private bool Answer()
    {
        if (_header.IsOneWay)
        {
            return false;
        }

        if (_answered)
        {
            throw new InvalidOperationException($"The request of type 0x{_header.Type:X4} has been answered already; answer once.");
        }

        _answered = true;
        return true;
    }
}
