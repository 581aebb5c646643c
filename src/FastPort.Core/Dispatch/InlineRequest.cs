using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions.Receiving;

namespace FastPort;

/// <summary>
/// A request or one-way message while its inline handler runs: on the session's loop with the body in the receive ring, or, if earlier
/// requests were waiting, on the queue's worker after them, with a copy of the body. The body is valid until the handler returns. If the
/// handler returns without an answer, an empty body is sent.
/// </summary>
public ref struct InlineRequest
{
    private readonly FrameProtocol _protocol;
    private readonly ref readonly FrameHeader _header;

    // One of the two is set: the ring with the frame at its head, or the request that had to wait, with its copy. The body is located only
    // when it is read.
    private readonly ArrayPoolCircularBuffer? _input;
    private readonly RequestContext? _queued;

    internal InlineRequest(FrameProtocol protocol, in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        _protocol = protocol;
        _header = ref header;
        _input = input;
        ReceivedNanoseconds = received;
        Answered = header.IsOneWay;
    }

    internal InlineRequest(FrameProtocol protocol, RequestContext queued)
    {
        _protocol = protocol;
        _header = ref queued.Header;
        _queued = queued;
        ReceivedNanoseconds = queued.ReceivedNanoseconds;
        Answered = _header.IsOneWay;
    }

    /// <summary>The session the message came from.</summary>
    public readonly Session Session => _protocol.Session;

    /// <summary>Message type.</summary>
    public readonly ushort Type => _header.Type;

    /// <summary>Correlation; 0 on one-way messages.</summary>
    public readonly uint Correlation => _header.Correlation;

    /// <summary>Whether the sender expects no reply. Replies to such a message are ignored.</summary>
    public readonly bool IsOneWay => _header.IsOneWay;

    /// <summary>The body: one segment, or two if it wraps around the end of the ring. Valid until the handler returns.</summary>
    public readonly ReadOnlySequence<byte> Body =>
        _queued is null ? _input!.GetReadableSequence(_header.BodyOffset, _header.BodySize) : new ReadOnlySequence<byte>(_queued.Body);

    /// <summary>Size of the body in bytes.</summary>
    public readonly int BodySize => _header.BodySize;

    /// <summary>When the message was complete in memory, on the monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>Whether the request has been answered (always true for one-way messages).</summary>
    public bool Answered { get; private set; }

    /// <summary>The code with which the request failed; None if it has not. For its activity.</summary>
    internal ErrorCode Failure { readonly get; set; }

    /// <summary>
    /// Gets the body in one piece, which is the fastest access; false if it wraps around the end of the ring: use <see cref="Body"/> then.
    /// </summary>
    /// <param name="body">The body, valid until the handler returns; empty if the result is false.</param>
    public readonly bool TryGetBodySpan(out ReadOnlySpan<byte> body)
    {
        if (_queued is null)
        {
            return _input!.TryGetReadableSpan(_header.BodyOffset, _header.BodySize, out body);
        }

        body = _queued.Body.Span;
        return true;
    }

    /// <summary>As <see cref="TryGetBodySpan"/>, as a memory.</summary>
    /// <param name="body">The body, valid until the handler returns; empty if the result is false.</param>
    public readonly bool TryGetBodyMemory(out ReadOnlyMemory<byte> body)
    {
        if (_queued is null)
        {
            return _input!.TryGetReadableMemory(_header.BodyOffset, _header.BodySize, out body);
        }

        body = _queued.Body;
        return true;
    }

    /// <summary>
    /// Answers. The body is encoded into the send ring; if it exceeds the frame limit, the error ReplyTooLarge is sent instead.
    /// </summary>
    /// <param name="body">The reply's body.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void Reply<TBody>(scoped in TBody body)
        where TBody : IFrameBody
    {
        if (MayAnswer())
        {
            // After the call: if the body throws, the request is still unanswered.
            Failure = _protocol.Output.Reply(_header, ReceivedNanoseconds, in body);
            Answered = true;
        }
    }

    /// <summary>Answers with these bytes as the body.</summary>
    /// <param name="body">The reply's body; copied.</param>
    /// <exception cref="InvalidOperationException">The request has already been answered.</exception>
    public void Reply(scoped ReadOnlySpan<byte> body)
    {
        if (MayAnswer())
        {
            Failure = _protocol.Output.Reply(_header, ReceivedNanoseconds, new RawBody(body));
            Answered = true;
        }
    }

    /// <summary>
    /// Answers with a body that is sent from the caller's memory without a copy. Worth it from 16 KiB on; a smaller body is copied and
    /// released at once.
    /// <para>
    /// Ownership: the memory is lent in every case, also if no reply is sent (a one-way message). It must stay unchanged until
    /// <paramref name="release"/> is called, which happens exactly once: after the body was sent, copied or dropped. If this method throws
    /// because the request has already been answered, <paramref name="release"/> is not called. Not for <see cref="Body"/>, which is valid
    /// only until the handler returns.
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
        Answered = true;
        Failure = _protocol.Output.ReplyBorrowed(_header, ReceivedNanoseconds, body, release, state);
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
            Failure = code;
        }
        else if (MayAnswer())
        {
            _protocol.Output.Error(_header, ReceivedNanoseconds, code, message, detail);
            Answered = true;
            Failure = code;
        }
    }

    /// <summary>
    /// Sends a one-way message that the request asked for, if there is room now. Unlike <see cref="Session.TrySend{TBody}"/>, which returns
    /// <see cref="SendStatus.NotReady"/>, it also sends to a peer that has not said Hello. It does not answer the request.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    public readonly SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Session.TrySendSolicited(type, in body);

    /// <summary>
    /// As <see cref="Session.BeginBatch"/>, but also to a peer that has not said Hello: the request asked for these messages.
    /// </summary>
    public readonly SendBatch BeginBatch() => new(_protocol.Output, solicited: true);

    /// <summary>Counts additional work of the request, in frames, against the session's turn on its loop.</summary>
    internal readonly void SpendTurn(int frames) => _protocol.SpendTurn(frames);

    /// <summary>Set if the handler has postponed the request, which is then unanswered; null if the request was handled.</summary>
    internal Postponement? PostponedUntil { readonly get; private set; }

    /// <summary>Whether the request has been postponed for its handler's whole timeout.</summary>
    internal readonly bool IsOverdue => _protocol.Dispatcher.IsOverdue;

    /// <summary>
    /// Postpones the request: reading of the session pauses, and the handler is called again with this request when the task has completed.
    /// For the framework's own handlers.
    /// </summary>
    /// <param name="until">Completes when a retry may succeed.</param>
    /// <param name="timeout">
    /// Time after which the handler is called once more in any case, with <see cref="IsOverdue"/> set. Zero for no limit.
    /// </param>
    internal void Postpone(Task until, TimeSpan timeout) => Postpone(new Postponement(until, timeout));

    /// <summary>Postpones with state that the next call of the handler finds in <see cref="Postponed"/>.</summary>
    internal void Postpone(Postponement postponement) => PostponedUntil = postponement;

    /// <summary>The last postponement of the request; null if there was none.</summary>
    internal readonly Postponement? Postponed => (_protocol.Dispatcher as RequestDispatcher)?.Postponed;

    /// <summary>The session's detached requests, which are bounded.</summary>
    internal readonly DetachedRequests Detached => _protocol.Detached;

    internal readonly FrameProtocol Protocol => _protocol;

    internal readonly ref readonly FrameHeader Header => ref _header;

    /// <summary>The object that answers the request later; null if the handler answers it or has postponed it.</summary>
    internal DetachedRequest? DetachedTo { readonly get; private set; }

    /// <summary>
    /// Leaves the answer to an object that completes later. For the framework's own handlers, which stay on the loop.
    /// </summary>
    internal void Detach(DetachedRequest request)
    {
        DetachedTo = request;
        Answered = true;
        _protocol.Detached.Begin();
        request.Begin();
    }

    private readonly bool MayAnswer()
    {
        if (_header.IsOneWay)
        {
            return false;
        }

        if (Answered)
        {
            ThrowAnswered(_header.Type);
        }

        return true;
    }

    // A separate method: every handler would otherwise clear stack space for the string.
    [DoesNotReturn]
    private static void ThrowAnswered(ushort type) =>
        throw new InvalidOperationException($"The request of type 0x{type:X4} has already been answered; answer it once.");
}
