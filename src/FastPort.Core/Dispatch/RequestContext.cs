using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Tracing;

namespace FastPort;

/// <summary>
/// A request or one-way message for a queued handler. It owns a copy of the body, which is valid until the handler's task ends. One thread
/// at a time may use it; <see cref="Aborted"/> is safe from any thread.
/// </summary>
public sealed class RequestContext : IDeadline
{
    // Values of _abort while no token has been requested.
    private static readonly CancellationTokenSource AbortedMark = new();
    private static readonly CancellationTokenSource EndedMark = new();

    private readonly FrameProtocol _protocol;
    private readonly FrameHeader _header;
    private readonly uint _deadlineMilliseconds;
    private RentedBuffer _body;
    private CancellationTokenSource? _abort;
    private volatile bool _detached;
    private volatile bool _aborted;
    private volatile bool _ended;
    private bool _answered;

    internal RequestContext(
        FrameProtocol protocol, HandlerEntry handler, in FrameHeader header, RentedBuffer body, long received, uint deadlineMilliseconds)
    {
        _protocol = protocol;
        _header = header;
        _body = body;
        Handler = handler;
        ReceivedNanoseconds = received;
        _deadlineMilliseconds = deadlineMilliseconds;
        _answered = header.IsOneWay;
    }

    /// <summary>The session the message came from.</summary>
    public Session Session => _protocol.Session;

    /// <summary>Message type.</summary>
    public ushort Type => _header.Type;

    /// <summary>Correlation; 0 on one-way messages.</summary>
    public uint Correlation => _header.Correlation;

    /// <summary>Whether the sender expects no reply. Replies to such a message are ignored.</summary>
    public bool IsOneWay => _header.IsOneWay;

    /// <summary>The body. Valid until the handler's task ends.</summary>
    public ReadOnlyMemory<byte> Body => _body.Memory;

    /// <summary>When the message was complete in memory, on the monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>
    /// The time that the requester still waits, at least zero; null if it has set no limit, or its version does not send it. Calls that the
    /// handler makes wait no longer than that.
    /// </summary>
    public TimeSpan? TimeLeft => HasDeadline ? DeadlineBlock.TimeLeft(ReceivedNanoseconds, _deadlineMilliseconds) : null;

    TimeSpan? IDeadline.TimeLeft => _ended ? null : TimeLeft;

    /// <summary>Whether the requester has sent its time limit.</summary>
    internal bool HasDeadline => (_header.Flags & FrameFlags.Deadline) != 0;

    /// <summary>Whether the requester no longer waits, by its time limit.</summary>
    /// <param name="now">The time on the monotonic clock, in nanoseconds.</param>
    internal bool IsOverdue(long now) => HasDeadline && DeadlineBlock.EndOf(ReceivedNanoseconds, _deadlineMilliseconds) <= now;

    /// <summary>Whether the request has been answered (always true for one-way messages).</summary>
    public bool Answered => _answered;

    /// <summary>Canceled when the requester cancels the request or the session ends. Created on first use.</summary>
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

    /// <summary>The handler; a <see cref="TracedEntry"/> if the request is traced.</summary>
    internal HandlerEntry Handler { get; }

    /// <summary>Neighbors in the queue's <see cref="RequestTable"/>; guarded by the queue's lock.</summary>
    internal RequestContext? Next { get; set; }

    internal RequestContext? Previous { get; set; }

    /// <summary>Selects the bucket in that table.</summary>
    internal uint TableKey { get; set; }

    internal ref readonly FrameHeader Header => ref _header;

    internal int BodySize => _body.Length;

    /// <summary>
    /// Answers. The body is encoded into the send ring; if it exceeds the frame limit, the error ReplyTooLarge is sent instead.
    /// </summary>
    /// <param name="body">The reply's body.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void Reply<TBody>(scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (MayAnswer())
        {
            // After the call: if the body throws, the request is still unanswered.
            ErrorCode failure = _protocol.Output.Reply(_header, ReceivedNanoseconds, in body);
            _answered = true;
            if (failure != ErrorCode.None)
            {
                Failed(failure);
            }

            FlushIfDetached();
        }
    }

    /// <summary>Answers with these bytes as the body.</summary>
    /// <param name="body">The reply's body; copied.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void Reply(scoped ReadOnlySpan<byte> body) => Reply(new RawBody(body));

    /// <summary>
    /// Answers with a body that is sent from the caller's memory without a copy. Worth it from 16 KiB on; a smaller body is copied and
    /// released at once.
    /// <para>
    /// Ownership: the memory is lent in every case, also if no reply is sent (a one-way message). It must stay unchanged until
    /// <paramref name="release"/> is called, which happens exactly once: after the body was sent, copied or dropped. If this method throws
    /// because the request has already been answered, <paramref name="release"/> is not called. Not for <see cref="Body"/>, which is valid
    /// only until the handler ends.
    /// </para>
    /// </summary>
    /// <param name="body">The reply's body; if it exceeds the frame limit, the error ReplyTooLarge is sent instead.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, possibly before this method returns. Must not block. Null for no
    /// callback.
    /// </param>
    /// <param name="state">Passed to <paramref name="release"/>.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void ReplyBorrowed(ReadOnlyMemory<byte> body, Action<object?>? release = null, object? state = null)
    {
        if (!MayAnswer())
        {
            release?.Invoke(state);
            return;
        }

        // Before the call: if the release callback throws, it has been called and the request has been answered.
        _answered = true;
        ErrorCode failure = _protocol.Output.ReplyBorrowed(_header, ReceivedNanoseconds, body, release, state);
        if (failure != ErrorCode.None)
        {
            Failed(failure);
        }

        FlushIfDetached();
    }

    /// <summary>Answers with an error. For a one-way message the error is only counted.</summary>
    /// <param name="code">The code. No code closes the connection.</param>
    /// <param name="message">A sentence for the requester. It must not contain internals.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void Fail(ErrorCode code, string message) => FailWith(code, message, detail: default);

    /// <summary>As <see cref="Fail"/>, with a detail.</summary>
    internal void FailWith(ErrorCode code, string message, ReadOnlyMemory<byte> detail)
    {
        if (_header.IsOneWay)
        {
            _protocol.Output.CountOneWayFailure(code);
            Failed(code);
        }
        else if (MayAnswer())
        {
            _protocol.Output.Error(_header, ReceivedNanoseconds, code, message, detail);
            _answered = true;
            Failed(code);
            FlushIfDetached();
        }
    }

    /// <summary>
    /// Sends a one-way message that the request asked for, and waits for room if the send policy says so. Unlike
    /// <see cref="Session.SendAsync{TBody}"/>, it also sends to a peer that has not said Hello. It does not answer the request.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; nothing is sent then.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the session is closed, or the body is too large.</exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <summary>As <see cref="SendAsync{TBody}"/>, but returns a status instead of throwing.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; nothing is sent then.</param>
    public ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => Session.TrySendSolicitedAsync(type, body, cancellationToken);

    /// <summary>As <see cref="TrySendAsync{TBody}"/>, but never waits for room.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Session.TrySendSolicited(type, in body);

    /// <summary>
    /// As <see cref="Session.BeginBatch"/>, but also to a peer that has not said Hello: the request asked for these messages.
    /// </summary>
    public SendBatch BeginBatch() => new(_protocol.Output, solicited: true);

    internal bool IsAborted => _aborted;

    /// <summary>
    /// Called when the handler has awaited. The worker no longer waits for it, so this flushes what the handler has written, and each later
    /// reply is flushed at once.
    /// </summary>
    internal void Detach()
    {
        _detached = true;
        _protocol.Output.Flush();
    }

    /// <summary>
    /// Cancels the token: the requester canceled, or the session has ended. Callbacks run on the pool, not on the caller's thread.
    /// </summary>
    internal void Abort()
    {
        _aborted = true;
        CancellationTokenSource? abort = Interlocked.CompareExchange(ref _abort, AbortedMark, null);
        if (abort is not null && !_ended && !ReferenceEquals(abort, AbortedMark) && !ReferenceEquals(abort, EndedMark))
        {
            _ = abort.CancelAsync();
        }
    }

    /// <summary>The request has failed with this code: marks its activity.</summary>
    internal void Failed(ErrorCode code) => (Handler as TracedEntry)?.Failed(code);

    /// <summary>Releases the body: the handler has ended or will not start.</summary>
    internal void End()
    {
        if (Handler is TracedEntry traced)
        {
            if (_aborted && !_answered)
            {
                Traces.SetFailed(traced.Activity, nameof(RequestFailure.Canceled));
            }

            Traces.Stop(traced.Activity, _protocol);
        }

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
            throw new InvalidOperationException($"The request of type 0x{_header.Type:X4} has already been answered; answer it once.");
        }

        return true;
    }
}
