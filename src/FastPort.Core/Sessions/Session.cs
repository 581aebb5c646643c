using System.Net;
using System.Security.Claims;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions;

/// <summary>
/// One peer that speaks the frame protocol: who it is, what it sent, and the way to send to it. Safe from any thread. A session lives as
/// long as its connection; a client that reconnects gets a new one. On the accepting side all sends here say
/// <see cref="SendStatus.NotReady"/> until the peer has said Hello.
/// </summary>
public sealed partial class Session
{
    private static long _lastId;
    private readonly FrameProtocol _protocol;
    private SessionHolders _holders;

    internal Session(FrameProtocol protocol, Connection connection)
    {
        _protocol = protocol;
        Connection = connection;
        OpenedAt = protocol.Settings.Clock.Time.GetUtcNow();
    }

    /// <summary>A number unique in this process, at least 1.</summary>
    public long Id { get; } = Interlocked.Increment(ref _lastId);

    /// <summary>The routing id from Hello; empty before, or where none was asked for.</summary>
    public string RoutingId => Identity?.Id ?? string.Empty;

    /// <summary>When the session was opened.</summary>
    public DateTimeOffset OpenedAt { get; }

    /// <summary>The peer's own name for itself, from Hello; empty before.</summary>
    public string ClientName { get; internal set; } = string.Empty;

    /// <summary>The identity the authenticator gave; null where there is none.</summary>
    public ClaimsPrincipal? User { get; internal set; }

    /// <summary>Whether the peer has said Hello and was accepted.</summary>
    public bool IsIdentified { get; internal set; }

    /// <summary>The peer's address, where the transport has one.</summary>
    public EndPoint? RemoteEndPoint => Connection.RemoteEndPoint;

    /// <summary>A place for the application's own state of this session. Assign it once, for example when the session connects.</summary>
    public object? State { get; set; }

    /// <summary>The connection underneath.</summary>
    public Connection Connection { get; }

    /// <summary>Messages received: requests, one-way messages and replies.</summary>
    public long MessagesReceived => _protocol.MessagesReceived;

    /// <summary>Messages handed to the send queue.</summary>
    public long MessagesSent => _protocol.Output.MessagesSent;

    /// <summary>One-way messages dropped because the send queue was full.</summary>
    public long MessagesDropped => _protocol.Output.QueueLimit.MessagesDropped;

    /// <summary>Requests this side has in flight.</summary>
    public int OutstandingRequests => _protocol.Requests.Outstanding.Count;

    /// <summary>The largest body that can be sent here, in bytes: the smaller frame limit of both sides, less the header's share.</summary>
    public int MaxBodyBytes => FrameLimits.MaxBodyBytes(_protocol.Output.Limit);

    /// <summary>Whether the session is closed or closing.</summary>
    public bool IsClosed => _protocol.IsClosed || Connection.IsClosing;

    /// <summary>Completes with the reason when the session is over.</summary>
    public Task<CloseReason> Closed => Connection.Closed;

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded straight into the send queue.</param>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => _protocol.Output.CanSendUnsolicited ? TrySendSolicited(type, in body) : NotReady;

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; copied.</param>
    public SendStatus TrySend(ushort type, scoped ReadOnlySpan<byte> body) => TrySend(type, new RawBody(body));

    /// <summary>
    /// Sends a one-way message whose body is sent from where it lies, without a copy, if there is room now. Never blocks. Worth it from 16
    /// KiB on; a smaller body is copied and released at once.
    /// <para>
    /// Ownership: with <see cref="SendStatus.Queued"/> the memory is lent and must stay unchanged until <paramref name="release"/> is
    /// called, exactly once: when it was sent or copied, or when the session has ended. With every other status it stays the caller's and
    /// <paramref name="release"/> is never called.
    /// </para>
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, perhaps before this returns. Must not block. Null where nobody
    /// needs to know.
    /// </param>
    /// <param name="state">Handed to <paramref name="release"/>.</param>
    public SendStatus TrySendBorrowed(ushort type, ReadOnlyMemory<byte> body, Action<object?>? release = null, object? state = null) =>
        _protocol.Output.CanSendUnsolicited ? _protocol.Output.TrySendBorrowed(type, body, release, state) : NotReady;

    /// <summary>
    /// Defers flushes: what the calling thread sends on this session until the deferral is disposed leaves together, with one flush. Keep
    /// it short: until then nothing of it is on its way, unless the send queue is full or another thread flushes. Handlers need none, their
    /// replies are flushed together anyway.
    /// </summary>
    public FlushDeferral DeferFlush() => new(_protocol.Output);

    /// <summary>
    /// Begins a batch: the fastest way to send many one-way messages, several times that of <see cref="DeferFlush"/>. Keep it short too:
    /// its last messages are on their way when it is disposed or flushed.
    /// </summary>
    public SendBatch BeginBatch() => new(_protocol.Output, solicited: false);

    /// <summary>Sends a one-way message, waiting for room where the policy says so. Do not await it in an inline handler.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <exception cref="SendFailedException">
    /// Nothing was sent: the session is closed, its peer has not said Hello, or the body is too large.
    /// </exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <inheritdoc cref="SendAsync{TBody}"/>
    public ValueTask SendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        SendAsync(type, new SequenceBody(new System.Buffers.ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>As <see cref="SendAsync{TBody}"/>, with a status instead of an exception.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <returns>Queued, Dropped, Closed, TooLarge or NotReady.</returns>
    public ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => _protocol.Output.CanSendUnsolicited
            ? TrySendSolicitedAsync(type, body, cancellationToken)
            : new ValueTask<SendStatus>(NotReady);

    /// <inheritdoc cref="TrySendAsync{TBody}"/>
    public ValueTask<SendStatus> TrySendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        TrySendAsync(type, new SequenceBody(new System.Buffers.ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>Sends a request if there is room now. The reply comes to <paramref name="pending"/>.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded straight into the send queue.</param>
    /// <param name="pending">Receives reply or failure; must not be in flight already. Untouched unless the result is Queued.</param>
    /// <param name="timing">Whether the reply shall carry a timing block.</param>
    /// <param name="timeout">Time for the reply; zero for none. Checked by a coarse clock, every 100 ms.</param>
    /// <param name="correlation">The number of the request, for <see cref="Cancel"/>.</param>
    public SendStatus TryRequest<TBody>(
        ushort type, scoped in TBody body, PendingReply pending, bool timing, TimeSpan timeout, out uint correlation)
        where TBody : IFrameBody, allows ref struct => _protocol.TryRequest(type, in body, pending, timing, timeout, out correlation);

    /// <summary>
    /// Gives a request up: its <see cref="PendingReply"/> fails as cancelled and the peer is told. False where it has ended already.
    /// </summary>
    /// <param name="correlation">The request's number.</param>
    public bool Cancel(uint correlation) => _protocol.Requests.Cancel(correlation);

    /// <summary>Completes when there is room in the send queue again, or the session is closed.</summary>
    /// <param name="cancellationToken">Gives up waiting.</param>
    public Task WhenWritableAsync(CancellationToken cancellationToken = default) =>
        _protocol.Output.QueueLimit.WhenDrainedAsync(cancellationToken);

    /// <summary>
    /// Closes in order: says Goodbye with a reason, takes no more requests, answers what is in flight, then ends the connection. Begins at
    /// once, whether the task is awaited or not. The routing id is free at once. What takes longer than
    /// <see cref="SessionOptions.CloseTimeout"/> is aborted.
    /// Not to be awaited in a handler of this session, whose own reply is in flight.
    /// </summary>
    /// <param name="code">Code for the peer. Defaults to none.</param>
    /// <param name="message">Sentence for the peer and the log. Defaults to a general one.</param>
    /// <param name="cancellationToken">Ends the connection at once, whatever is in flight.</param>
    /// <returns>Completes when the session is over, with the reason.</returns>
    public Task<CloseReason> CloseAsync(
        ErrorCode code = ErrorCode.None, string message = "Closed by this program.", CancellationToken cancellationToken = default)
    {
        _protocol.Stop(new CloseReason(CloseKind.LocalClosed, message, (uint)code), TimeSpan.Zero, _protocol.Settings.Options.CloseTimeout);
        return cancellationToken.CanBeCanceled ? AbortIfCanceledAsync(cancellationToken) : Closed;
    }

    /// <summary>
    /// Says Goodbye with a reason, where the peer has said Hello, and closes without waiting for what is in flight. It is no ban: a
    /// FastPort client reconnects; refuse it in the <see cref="Authenticator"/>. The routing id is free at once, and after
    /// <see cref="SessionOptions.CloseTimeout"/> the connection is aborted, whatever the peer has read by then.
    /// </summary>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log. Name no internals.</param>
    public void Kick(ErrorCode code, string reason) =>
        _protocol.CloseWithGoodbye(new CloseReason(CloseKind.LocalClosed, reason, (uint)code));

    /// <summary>Ends the connection at once.</summary>
    public void Abort() => Connection.Abort(CloseReason.LocalClosed);

    /// <inheritdoc/>
    public override string ToString() =>
        RoutingId.Length == 0 ? $"session {Id} ({RemoteEndPoint})" : $"session {Id} '{RoutingId}' ({RemoteEndPoint})";

    internal FrameProtocol Protocol => _protocol;

    /// <summary>What <see cref="RoutingId"/> names, where the session has one.</summary>
    internal IClaimedId? Identity { get; set; }

    /// <summary>Who has to be told that the session has ended.</summary>
    internal ref SessionHolders Holders => ref _holders;

    /// <summary>As <see cref="TrySend{TBody}"/>, for what the peer's request asked for.</summary>
    internal SendStatus TrySendSolicited<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => _protocol.Output.TrySendOneWay(type, in body);

    /// <summary>As <see cref="TrySendAsync{TBody}"/>, for what the peer's request asked for.</summary>
    internal ValueTask<SendStatus> TrySendSolicitedAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        SendStatus status = TrySendSolicited(type, in body);
        return status == SendStatus.Full ? SendSlowAsync(type, body, cancellationToken) : new ValueTask<SendStatus>(status);
    }

    private async Task<CloseReason> AbortIfCanceledAsync(CancellationToken cancellationToken)
    {
        using CancellationTokenRegistration _ = cancellationToken.UnsafeRegister(static session => ((Session)session!).Abort(), this);
        return await Closed.ConfigureAwait(false);
    }

    private SendStatus NotReady => IsClosed ? SendStatus.Closed : SendStatus.NotReady;

    private async ValueTask<SendStatus> SendSlowAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        SendStatus status;
        do
        {
            await WhenWritableAsync(cancellationToken).ConfigureAwait(false);
            status = TrySendSolicited(type, in body);
        }
        while (status == SendStatus.Full);
        return status;
    }
}
