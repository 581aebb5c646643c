using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using FastPort.Buffers;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;

namespace FastPort.Dispatch;

/// <summary>
/// A request or one-way message while its inline handler runs: on the session's loop with the body in the receive ring, or, where it came
/// behind queued ones that waited, in its turn after them with a copy. The body is valid until the handler returns. A handler that returns
/// without an answer has answered with an empty body.
/// </summary>
public ref struct InlineRequest
{
    private readonly FrameProtocol _protocol;
    private readonly ref readonly FrameHeader _header;

    // One of the two: the ring with the frame at its head, or the request that had to wait, with its copy. The body is looked for when it
    // is asked for.
    private readonly ArrayPoolCircularBuffer? _input;
    private readonly RequestContext? _deferred;

    internal InlineRequest(FrameProtocol protocol, in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        _protocol = protocol;
        _header = ref header;
        _input = input;
        ReceivedNanoseconds = received;
        Answered = header.IsOneWay;
    }

    internal InlineRequest(FrameProtocol protocol, RequestContext deferred)
    {
        _protocol = protocol;
        _header = ref deferred.Header;
        _deferred = deferred;
        ReceivedNanoseconds = deferred.ReceivedNanoseconds;
        Answered = _header.IsOneWay;
    }

    /// <summary>The session the message came from.</summary>
    public readonly Session Session => _protocol.Session;

    /// <summary>Message type.</summary>
    public readonly ushort Type => _header.Type;

    /// <summary>Correlation; 0 on one-way messages.</summary>
    public readonly uint Correlation => _header.Correlation;

    /// <summary>Whether no reply is wanted; replies are then ignored.</summary>
    public readonly bool IsOneWay => _header.IsOneWay;

    /// <summary>The body: one segment, or two where it lies across the wrap of the ring. Valid until the handler returns.</summary>
    public readonly ReadOnlySequence<byte> Body =>
        _deferred is null ? _input!.GetReadableSequence(FrameHeader.Size, _header.BodySize) : new ReadOnlySequence<byte>(_deferred.Body);

    /// <summary>Bytes of the body.</summary>
    public readonly int BodySize => _header.BodySize;

    /// <summary>When the message was in memory, on the monotonic clock, in nanoseconds.</summary>
    public long ReceivedNanoseconds { get; }

    /// <summary>Whether an answer has been given (always true for one-way messages).</summary>
    public bool Answered { get; private set; }

    /// <summary>
    /// The body in one piece, which is the fast way to most; false where it lies across the wrap of the ring, for which there is
    /// <see cref="Body"/>.
    /// </summary>
    /// <param name="body">The body, valid until the handler returns; empty with false.</param>
    public readonly bool TryGetBodySpan(out ReadOnlySpan<byte> body)
    {
        if (_deferred is null)
        {
            return _input!.TryGetReadableSpan(FrameHeader.Size, _header.BodySize, out body);
        }

        body = _deferred.Body.Span;
        return true;
    }

    /// <summary>As <see cref="TryGetBodySpan"/>, for what takes a memory.</summary>
    /// <param name="body">The body, valid until the handler returns; empty with false.</param>
    public readonly bool TryGetBodyMemory(out ReadOnlyMemory<byte> body)
    {
        if (_deferred is null)
        {
            return _input!.TryGetReadableMemory(FrameHeader.Size, _header.BodySize, out body);
        }

        body = _deferred.Body;
        return true;
    }

    /// <summary>
    /// Answers. The body is encoded straight into the send ring; a body over the frame limit becomes the error ReplyTooLarge.
    /// </summary>
    /// <param name="body">The reply's body.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply<TBody>(scoped in TBody body)
        where TBody : IFrameBody
    {
        if (MayAnswer())
        {
            // A body that throws has answered nothing.
            _protocol.Replies.Reply(_header, ReceivedNanoseconds, in body);
            Answered = true;
        }
    }

    /// <summary>Answers with these bytes as the body.</summary>
    /// <param name="body">The reply's body; copied.</param>
    /// <exception cref="InvalidOperationException">The request has been answered already.</exception>
    public void Reply(scoped ReadOnlySpan<byte> body)
    {
        if (MayAnswer())
        {
            _protocol.Replies.Reply(_header, ReceivedNanoseconds, new RawBody(body));
            Answered = true;
        }
    }

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
        Answered = true;
        _protocol.Replies.ReplyBorrowed(_header, ReceivedNanoseconds, body, release, state);
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
            Answered = true;
        }
    }

    /// <summary>
    /// Sends a one-way message that the request asked for, if there is room now; also to a peer that has not said Hello, where
    /// <see cref="Session.TrySend{TBody}"/> says <see cref="SendStatus.NotReady"/>. It answers nothing.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded straight into the send queue.</param>
    public readonly SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Session.TrySendSolicited(type, in body);

    /// <summary>As <see cref="Session.BeginBatch"/>, for what the request asked for, so also to a peer that has not said Hello.</summary>
    public readonly SendBatch BeginBatch() => new(_protocol.Output, solicited: true);

    /// <summary>The request has made as much work as so many frames, which the session's turn on its loop is the shorter for.</summary>
    internal readonly void SpendTurn(int frames) => _protocol.SpendTurn(frames);

    /// <summary>When the handler wants to see the request again, which then is unanswered; null where it has handled it.</summary>
    internal Postponement? PostponedUntil { readonly get; private set; }

    /// <summary>Whether the request has been postponed for as long as its handler would wait.</summary>
    internal readonly bool IsOverdue => _protocol.Dispatcher.IsOverdue;

    /// <summary>
    /// Handles the request later: the session is read no further, and its handler is called again with this request when the task has
    /// ended. For the framework's own handlers.
    /// </summary>
    /// <param name="until">Ends when it is worth trying again.</param>
    /// <param name="timeout">
    /// Time after which the handler is called once more in any case, then with <see cref="IsOverdue"/>. Zero for none.
    /// </param>
    internal void Postpone(Task until, TimeSpan timeout) => Postpone(new Postponement(until, timeout));

    /// <summary>The same, with what the handler wants to find when it is called again: <see cref="Postponed"/>.</summary>
    internal void Postpone(Postponement postponement) => PostponedUntil = postponement;

    /// <summary>How the request was postponed last; null where it never was.</summary>
    internal readonly Postponement? Postponed => (_protocol.Dispatcher as RequestDispatcher)?.Postponed;

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

    // Apart: room on the stack for its text would have to be cleared by every handler.
    [DoesNotReturn]
    private static void ThrowAnswered(ushort type) =>
        throw new InvalidOperationException($"The request of type 0x{type:X4} has been answered already; answer once.");
}
