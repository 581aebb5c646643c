using FastPort.Buffers;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;

namespace FastPort.Dispatch;

/// <summary>
/// A request or one-way message that left the loop for a queued handler. It owns a copy of the body, valid until the handler's task ends.
/// One thread at a time may use it, as with any async method's state; <see cref="Aborted"/> is safe from any thread.
/// </summary>
public sealed class RequestContext
{
    // What _abort holds where no token was ever asked for.
    private static readonly CancellationTokenSource AbortedMark = new();
    private static readonly CancellationTokenSource EndedMark = new();

    private readonly FrameProtocol _protocol;
    private readonly FrameHeader _header;
    private RentedBuffer _body;
    private CancellationTokenSource? _abort;
    private volatile bool _detached;
    private volatile bool _aborted;
    private volatile bool _ended;
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
            CancellationTokenSource? abort = Volatile.Read(ref _abort);
            if (abort is null)
            {
                var made = new CancellationTokenSource();
                abort = Interlocked.CompareExchange(ref _abort, made, null) ?? made;
            }

            return ReferenceEquals(abort, AbortedMark) ? new CancellationToken(canceled: true)
                : ReferenceEquals(abort, EndedMark) ? CancellationToken.None
                : abort.Token;
        }
    }

    internal HandlerEntry Handler { get; }

    /// <summary>Neighbors in the queue's <see cref="RequestTable"/>; guarded by the queue.</summary>
    internal RequestContext? Next { get; set; }

    internal RequestContext? Previous { get; set; }

    /// <summary>Tells the bucket in that table.</summary>
    internal uint TableKey { get; set; }

    internal ref readonly FrameHeader Header => ref _header;

    internal int BodySize => _body.Length;

    /// <summary>
    /// Answers. The body is encoded straight into the send ring; a body over the frame limit becomes the error ReplyTooLarge.
    /// </summary>
    /// <param name="body">The reply's body.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply<TBody>(scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (MayAnswer())
        {
            // A body that throws has answered nothing.
            _protocol.Replies.Reply(_header, ReceivedNanoseconds, in body);
            _answered = true;
            FlushIfDetached();
        }
    }

    /// <summary>Answers with these bytes as the body.</summary>
    /// <param name="body">The reply's body; copied.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply(scoped ReadOnlySpan<byte> body) => Reply(new RawBody(body));

    /// <summary>
    /// Answers with a body that is sent from where it lies, without a copy. Worth it from 16 KiB on; a smaller body is copied and released
    /// at once.
    /// <para>
    /// Ownership: the memory is lent, whatever becomes of the reply (also of none, for a one-way message). It must stay unchanged until
    /// <paramref name="release"/> is called, exactly once: when it was sent, copied or dropped. Where this throws because the request has
    /// been answered already, it stays the caller's. Not for <see cref="Body"/>, which ends with the handler.
    /// </para>
    /// </summary>
    /// <param name="body">The reply's body; over the frame limit it becomes the error ReplyTooLarge.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, perhaps before this returns. Must not block. Null where nobody
    /// needs to know.
    /// </param>
    /// <param name="state">Handed to <paramref name="release"/>.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void ReplyBorrowed(ReadOnlyMemory<byte> body, Action<object?>? release = null, object? state = null)
    {
        if (!MayAnswer())
        {
            release?.Invoke(state);
            return;
        }

        // First: a callback that throws has been called, and the request answered.
        _answered = true;
        _protocol.Replies.ReplyBorrowed(_header, ReceivedNanoseconds, body, release, state);
        FlushIfDetached();
    }

    /// <summary>Answers with an error. For a one-way message it is counted only.</summary>
    /// <param name="code">The code; the connection stays open whatever it is.</param>
    /// <param name="message">A sentence for the requester. Name no internals.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Fail(ErrorCode code, string message)
    {
        if (_header.IsOneWay)
        {
            _protocol.Replies.CountOneWayFailure(code);
        }
        else if (MayAnswer())
        {
            _protocol.Replies.Error(_header, ReceivedNanoseconds, code, message);
            _answered = true;
            FlushIfDetached();
        }
    }

    /// <summary>
    /// Sends a one-way message that the request asked for, waiting for room where the policy says so; also to a peer that has not said
    /// Hello, where <see cref="Session.SendAsync{TBody}"/> does not. It answers nothing.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the session is closed, or the body is too large.</exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <summary>As <see cref="SendAsync{TBody}"/>, with a status instead of an exception.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    public ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => Session.TrySendSolicitedAsync(type, body, cancellationToken);

    /// <summary>As <see cref="TrySendAsync{TBody}"/>, if there is room now.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded straight into the send queue.</param>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Session.TrySendSolicited(type, in body);

    /// <summary>As <see cref="Session.BeginBatch"/>, for what the request asked for, so also to a peer that has not said Hello.</summary>
    public SendBatch BeginBatch() => new(_protocol.Output, solicited: true);

    internal bool IsAborted => _aborted;

    /// <summary>
    /// The handler has awaited: from here on its replies are flushed one by one, as the worker does not wait for it. What it wrote before
    /// is flushed now.
    /// </summary>
    internal void Detach()
    {
        _detached = true;
        _protocol.Output.Flush();
    }

    /// <summary>The requester or the session is gone: cancels the token. Callbacks run on the pool, not on the caller's thread.</summary>
    internal void Abort()
    {
        _aborted = true;
        CancellationTokenSource? abort = Interlocked.CompareExchange(ref _abort, AbortedMark, null);
        if (abort is not null && !_ended && !ReferenceEquals(abort, AbortedMark) && !ReferenceEquals(abort, EndedMark))
        {
            // Asynchronously: the loop must not run a handler's cancellation callbacks.
            _ = abort.CancelAsync();
        }
    }

    /// <summary>Gives the body back; the handler has ended or will never start.</summary>
    internal void End()
    {
        _ended = true;
        Interlocked.CompareExchange(ref _abort, EndedMark, null);

        _body.Dispose();
    }

    private void FlushIfDetached()
    {
        if (_detached)
        {
            _protocol.Output.Flush();
        }
    }

    private bool MayAnswer()
    {
        if (_header.IsOneWay)
        {
            return false;
        }

        if (_answered)
        {
            throw new InvalidOperationException($"The request of type 0x{_header.Type:X4} has been answered already; answer once.");
        }

        return true;
    }
}
