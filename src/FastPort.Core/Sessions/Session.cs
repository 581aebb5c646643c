using System.Diagnostics;
using System.Net;
using System.Security.Claims;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Sessions;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Receiving;
using FastPort.Sessions.Tracing;

namespace FastPort;

/// <summary>
/// One peer that speaks the frame protocol: its identity, its counters, and the methods that send to it. Safe from any thread. A session
/// lives as long as its connection; a client that reconnects gets a new one. On the accepting side all sends return
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

    /// <summary>A number unique in this process; 1 or more.</summary>
    public long Id { get; } = Interlocked.Increment(ref _lastId);

    /// <summary>The routing id from Hello; empty before Hello, or if none was requested.</summary>
    public string RoutingId => Identity?.Id ?? string.Empty;

    /// <summary>When the session was opened.</summary>
    public DateTimeOffset OpenedAt { get; }

    /// <summary>The peer's name for itself in Hello; empty before.</summary>
    public string ClientName { get; internal set; } = string.Empty;

    /// <summary>The identity from the authenticator; null if there is none.</summary>
    public ClaimsPrincipal? User { get; internal set; }

    /// <summary>Whether the peer has said Hello and was accepted.</summary>
    public bool IsIdentified { get; internal set; }

    /// <summary>The peer's address; null if the transport has none.</summary>
    public EndPoint? RemoteEndPoint => Connection.RemoteEndPoint;

    /// <summary>The result of the TLS handshake, with the peer's certificate; null if the connection is not encrypted.</summary>
    public TlsInfo? Tls => Connection.Tls;

    /// <summary>The application's own state for this session. Assign it once, for example when the session opens.</summary>
    public object? State { get; set; }

    /// <summary>The connection underneath.</summary>
    public Connection Connection { get; }

    /// <summary>Messages received: requests, one-way messages and replies.</summary>
    public long MessagesReceived => _protocol.MessagesReceived;

    /// <summary>Messages written to the send queue.</summary>
    public long MessagesSent => _protocol.Output.MessagesSent;

    /// <summary>One-way messages dropped because the send queue was full.</summary>
    public long MessagesDropped => _protocol.Output.QueueLimit.MessagesDropped;

    /// <summary>Number of this side's requests in flight.</summary>
    public int OutstandingRequests => _protocol.Requests.Outstanding.Count;

    /// <summary>The largest body that can be sent, in bytes: the smaller frame limit of both sides, less the header's share.</summary>
    public int MaxBodyBytes => FrameLimits.MaxBodyBytes(_protocol.Output.Limit);

    /// <summary>Whether the session is closed or closing.</summary>
    public bool IsClosed => Connection.IsClosing || _protocol.End.State == EndState.Closed;

    /// <summary>Completes with the reason when the session is over.</summary>
    public Task<CloseReason> Closed => Connection.Closed;

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => _protocol.Output.CanSendUnsolicited ? TrySendSolicited(type, in body) : NotReady;

    /// <summary>Sends a one-way message if there is room now. Never blocks; safe in inline handlers.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; copied.</param>
    public SendStatus TrySend(ushort type, scoped ReadOnlySpan<byte> body) => TrySend(type, new RawBody(body));

    /// <summary>
    /// Sends a one-way message from the caller's memory, without copying the body, if there is room now. Never blocks. Worth it from 16 KiB
    /// on; a smaller body is copied and released at once.
    /// <para>
    /// Ownership: with <see cref="SendStatus.Queued"/> the memory is lent. It must stay unchanged until <paramref name="release"/> is
    /// called, which happens exactly once: after the body was sent or copied, or the session has ended. With any other status the memory is
    /// not lent and <paramref name="release"/> is never called.
    /// </para>
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, possibly before this method returns. Must not block. Null for no
    /// callback.
    /// </param>
    /// <param name="state">Passed to <paramref name="release"/>.</param>
    public SendStatus TrySendBorrowed(ushort type, ReadOnlyMemory<byte> body, Action<object?>? release = null, object? state = null) =>
        _protocol.Output.CanSendUnsolicited ? _protocol.Output.TrySendBorrowed(type, body, release, state) : NotReady;

    /// <summary>
    /// Defers flushes: the messages that the calling thread sends on this session until the deferral is disposed are sent with one flush.
    /// Keep it short: until then none of them is sent, unless the send queue is full or another thread flushes. Handlers do not need it:
    /// their replies are flushed together anyway.
    /// </summary>
    public FlushDeferral DeferFlush() => new(_protocol.Output);

    /// <summary>
    /// Begins a batch: the fastest way to send many one-way messages, several times faster than <see cref="DeferFlush"/>. Keep it short:
    /// its last messages are sent when it is disposed or flushed.
    /// </summary>
    public SendBatch BeginBatch() => new(_protocol.Output, solicited: false);

    /// <summary>Sends a one-way message, and waits for room if the policy says so. Do not await it in an inline handler.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; nothing is sent then.</param>
    /// <exception cref="SendFailedException">
    /// Nothing was sent: the session is closed, its peer has not said Hello, or the body is too large.
    /// </exception>
    public ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <inheritdoc cref="SendAsync{TBody}"/>
    public ValueTask SendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        SendAsync(type, new SequenceBody(new System.Buffers.ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>As <see cref="SendAsync{TBody}"/>, but returns a status instead of throwing.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; nothing is sent then.</param>
    /// <returns>Queued, Dropped, Closed, TooLarge or NotReady.</returns>
    public ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => !_protocol.Output.CanSendUnsolicited ? new ValueTask<SendStatus>(NotReady)
            : Traces.IsOn ? TrySendTracedAsync(type, body, cancellationToken)
            : TrySendSolicitedAsync(type, body, cancellationToken);

    /// <inheritdoc cref="TrySendAsync{TBody}"/>
    public ValueTask<SendStatus> TrySendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        TrySendAsync(type, new SequenceBody(new System.Buffers.ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>Sends a request if there is room now. The reply is passed to <paramref name="pending"/>.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    /// <param name="pending">
    /// Receives the reply or the failure; must not already be in flight. Not called unless the result is Queued.
    /// </param>
    /// <param name="timing">Whether the reply must carry a timing block.</param>
    /// <param name="timeout">Time for the reply; zero for no limit. Checked by the coarse clock, every 100 ms.</param>
    /// <param name="correlation">The request's correlation, for <see cref="Cancel"/>.</param>
    public SendStatus TryRequest<TBody>(
        ushort type, scoped in TBody body, PendingReply pending, bool timing, TimeSpan timeout, out uint correlation)
        where TBody : IFrameBody, allows ref struct => _protocol.Requests.TrySend(type, in body, pending, timing, timeout, out correlation);

    /// <summary>
    /// Cancels a request: its <see cref="PendingReply"/> fails with Canceled and the peer receives Cancel. False if the request has already
    /// ended.
    /// </summary>
    /// <param name="correlation">The request's correlation.</param>
    public bool Cancel(uint correlation) => _protocol.Requests.Cancel(correlation);

    /// <summary>Completes when there is room in the send queue, or the session is closed.</summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public Task WhenWritableAsync(CancellationToken cancellationToken = default) =>
        _protocol.Output.QueueLimit.WhenDrainedAsync(cancellationToken);

    /// <summary>
    /// Closes in order: says Goodbye with a reason, refuses requests that cross it with ShuttingDown, answers those in flight, then ends
    /// the connection: when the peer has said its Goodbye or has sent nothing for about 100 ms. Begins at once, whether the task is awaited
    /// or not. The routing id is free at once. After <see cref="SessionOptions.CloseTimeout"/> the connection is aborted. Do not await it
    /// in a handler of this session: the handler's own reply is in flight.
    /// </summary>
    /// <param name="code">Code for the peer. Defaults to none.</param>
    /// <param name="message">Sentence for the peer and the log. Defaults to a general one.</param>
    /// <param name="cancellationToken">Aborts the connection at once.</param>
    /// <returns>Completes with the reason when the session is over.</returns>
    public Task<CloseReason> CloseAsync(
        ErrorCode code = ErrorCode.None, string message = "Closed by this program.", CancellationToken cancellationToken = default)
    {
        _protocol.Stop(new CloseReason(CloseKind.LocalClosed, message, (uint)code), TimeSpan.Zero, _protocol.Settings.Options.CloseTimeout);
        return cancellationToken.CanBeCanceled ? AbortIfCanceledAsync(cancellationToken) : Closed;
    }

    /// <summary>
    /// Says Goodbye with a reason, if the peer has said Hello, and closes without waiting for requests in flight. This does not ban the
    /// peer: a FastPort client reconnects; to refuse it, use the <see cref="Authenticator"/>. The routing id is free at once. After
    /// <see cref="SessionOptions.CloseTimeout"/> the connection is aborted, however much the peer has read by then.
    /// </summary>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log. It must not contain internals.</param>
    public void Kick(ErrorCode code, string reason) =>
        _protocol.CloseWithGoodbye(new CloseReason(CloseKind.LocalClosed, reason, (uint)code));

    /// <summary>Aborts the connection at once.</summary>
    public void Abort() => Connection.Abort(CloseReason.LocalClosed);

    /// <summary>For the log: the id, the routing id and the user if there are any, and the remote address.</summary>
    public override string ToString() =>
        $"session {Id}{(RoutingId.Length == 0 ? "" : $" '{RoutingId}'")}{UserText} ({RemoteEndPoint})";

    // An authenticator may take the name from the peer's token.
    private string UserText => User?.Identity?.Name is { } name ? $" of user '{PeerText.Escape(name)}'" : string.Empty;

    internal FrameProtocol Protocol => _protocol;

    /// <summary>
    /// Whether text from the peer may be logged: always on the connecting side, which chose its peer; after Hello on the accepting side.
    /// </summary>
    internal bool IsPeerKnown => IsIdentified || _protocol.Settings.Handshake is null;

    /// <summary>The claim behind <see cref="RoutingId"/>; null if the session has none.</summary>
    internal IClaimedId? Identity { get; set; }

    /// <summary>The objects that are notified when the session has ended.</summary>
    internal ref SessionHolders Holders => ref _holders;

    /// <summary>As <see cref="TrySend{TBody}"/>, for messages of others, which do not take part in this thread's trace.</summary>
    internal SendStatus TrySendOutOfContext<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct =>
        _protocol.Output.CanSendUnsolicited ? _protocol.Output.TrySendOneWay(type, in body) : NotReady;

    /// <summary>As <see cref="TrySend{TBody}"/>, for messages that the peer's request asked for.</summary>
    internal SendStatus TrySendSolicited<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => _protocol.Output.TrySendInContext(type, in body);

    /// <summary>As <see cref="TrySendAsync{TBody}"/>, for messages that the peer's request asked for.</summary>
    internal ValueTask<SendStatus> TrySendSolicitedAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        SendStatus status = TrySendSolicited(type, in body);
        return status == SendStatus.Full ? SendSlowAsync(type, body, cancellationToken) : new ValueTask<SendStatus>(status);
    }

    private ValueTask<SendStatus> TrySendTracedAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken)
        where TBody : IFrameBody
    {
        Activity? outer = Activity.Current;
        Activity? activity = Traces.StartOutgoing(type, (body as INamedBody)?.Name, ActivityKind.Producer);
        Traces.SetPeer(activity, RemoteEndPoint);
        ValueTask<SendStatus> sent = TrySendSolicitedAsync(type, body, cancellationToken);
        return activity is null ? sent : new(Traces.EndWithAsync(sent.AsTask(), activity, outer));
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
