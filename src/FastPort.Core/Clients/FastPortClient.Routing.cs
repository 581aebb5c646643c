using System.Buffers;
using FastPort.Framing;
using FastPort.Routing;

namespace FastPort;

// Messages to and from other peers, through the server; topics are subscribed to in FastPortClient.Topics.cs.
public sealed partial class FastPortClient
{
    /// <summary>
    /// Sends a message to the session with a routing id. Completes when the target's send queue at the server has taken the message.
    /// </summary>
    /// <param name="to">The routing id.</param>
    /// <param name="type">The application's message type, which selects the target's handler.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; the server may still have forwarded the message.</param>
    /// <exception cref="RequestFailedException">
    /// NotFound: no session has the id. Overloaded: the target's queue is full and drops messages. UnknownType: the server does not relay.
    /// Or no reply came.
    /// </exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task RelayAsync<TBody>(
        string to, ushort type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(to);
        return RequestAsync(ControlType.Relay, new RoutedBody<TBody>(to, type, body), ReadNothing, timeout, cancellationToken);
    }

    /// <inheritdoc cref="RelayAsync{TBody}"/>
    public Task RelayAsync(
        string to, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RelayAsync(to, type, new SequenceBody(new ReadOnlySequence<byte>(body)), timeout, cancellationToken);

    /// <summary>
    /// Sends a message to the session with a routing id, one-way: the server counts a message that it cannot forward, and the sender gets
    /// no error.
    /// </summary>
    /// <param name="to">The routing id.</param>
    /// <param name="type">The application's message type, which selects the target's handler.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public ValueTask RelayOneWayAsync<TBody>(string to, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(to);
        return SendAsync(ControlType.Relay, new RoutedBody<TBody>(to, type, body), cancellationToken);
    }

    /// <inheritdoc cref="RelayOneWayAsync{TBody}"/>
    public ValueTask RelayOneWayAsync(
        string to, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        RelayOneWayAsync(to, type, new SequenceBody(new ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>
    /// Registers a handler of messages that other peers relay to this one. Register it before connecting so that no message is missed: a
    /// message without a handler is counted as a one-way failure and dropped.
    /// </summary>
    /// <param name="type">The sender's message type.</param>
    /// <param name="handler">The handler.</param>
    /// <exception cref="ArgumentException">The type already has a handler.</exception>
    public void OnRelayed(ushort type, RoutedHandler handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        if (!_routing.TryAdd(type, handler))
        {
            throw new ArgumentException($"Relayed messages of type {type} already have a handler; a type has one handler.", nameof(type));
        }
    }

    /// <summary>Publishes: every session that is subscribed to a prefix of the topic gets the message, this one included.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; the server may still have published the message.</param>
    /// <returns>
    /// The number of sessions whose send queues at the server accepted the message; a session without room does not get it.
    /// </returns>
    /// <exception cref="RequestFailedException">
    /// MalformedBody: the topic is too long. UnknownType: the server has no topics. Or no reply came.
    /// </exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public Task<int> PublishAsync<TBody>(
        string topic, ushort type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(topic);
        return RequestAsync(ControlType.Publish, new RoutedBody<TBody>(topic, type, body), ReadDelivered, timeout, cancellationToken);
    }

    /// <inheritdoc cref="PublishAsync{TBody}"/>
    public Task<int> PublishAsync(
        string topic, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        PublishAsync(topic, type, new SequenceBody(new ReadOnlySequence<byte>(body)), timeout, cancellationToken);

    /// <summary>Publishes one-way: the server reports no number of deliveries.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Cancels the wait; then nothing was sent.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public ValueTask PublishOneWayAsync<TBody>(
        string topic, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(topic);
        return SendAsync(ControlType.Publish, new RoutedBody<TBody>(topic, type, body), cancellationToken);
    }

    /// <inheritdoc cref="PublishOneWayAsync{TBody}"/>
    public ValueTask PublishOneWayAsync(
        string topic, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        PublishOneWayAsync(topic, type, new SequenceBody(new ReadOnlySequence<byte>(body)), cancellationToken);

    /// <summary>
    /// The sessions that have routing ids, in ordinal order of the ids; with a backplane, those of all nodes. Requests pages from the
    /// server as the loop needs them: a session that begins or ends meanwhile may or may not be listed.
    /// </summary>
    /// <param name="prefix">Only ids with this prefix. Defaults to all.</param>
    /// <param name="after">Only ids after this one. Defaults to empty: from the beginning.</param>
    /// <param name="timeout">
    /// Time for each page. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the request in progress.</param>
    /// <exception cref="RequestFailedException">
    /// In the loop: UnknownType if the server does not list its peers; or no reply came.
    /// </exception>
    /// <exception cref="OperationCanceledException">In the loop: canceled.</exception>
    public IAsyncEnumerable<PeerInfo> ListPeersAsync(
        string prefix = "", string after = "", TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(after);
        return PeerPages.ReadAsync(
            (last, token) => new(RequestAsync(ControlType.Peers, new PeersQueryBody(prefix, 0, last), ReadPeers, timeout, token)),
            after,
            cancellationToken);
    }

    private static bool ReadNothing(scoped in InboundReply reply) => true;

    private static int ReadDelivered(scoped in InboundReply reply) =>
        DeliveredBody.TryRead(reply.Body.ToArray(), out DeliveredBody delivered) ? (int)delivered.Sessions : throw Malformed("Delivered");

    private static IReadOnlyList<PeerInfo> ReadPeers(scoped in InboundReply reply) =>
        PeerListBody.TryRead(reply.Body.ToArray(), out List<PeerInfo> peers) ? peers : throw Malformed("PeerList");

    private static RequestFailedException Malformed(string message) =>
        new(ErrorCode.MalformedBody, $"The server's reply is not a valid {message} message.");
}
