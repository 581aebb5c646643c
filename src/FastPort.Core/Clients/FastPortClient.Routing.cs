using System.Buffers;
using FastPort.Framing;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Logging;

namespace FastPort.Clients;

// Messages to other peers through the server, and from them.
public sealed partial class FastPortClient
{
    private readonly ClientRouting _routing = new();

    /// <summary>Hands a message to the session with a routing id. Ends when the target's send queue at the server has taken it.</summary>
    /// <param name="to">The routing id.</param>
    /// <param name="type">A type of the application's own; the target finds its handler by it.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives up; it may have been handed over all the same.</param>
    /// <exception cref="RequestFailedException">
    /// NotFound: nobody has the id. Overloaded: the target's queue is full and drops. UnknownType: the server does not relay. Or no reply
    /// came.
    /// </exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public Task RelayAsync<TBody>(string to, uint type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(to);
        return RequestAsync(ControlType.Relay, new RoutedBody<TBody>(to, type, body), ReadNothing, timeout, cancellationToken);
    }

    /// <inheritdoc cref="RelayAsync{TBody}"/>
    public Task RelayAsync(
        string to, uint type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        RelayAsync(to, type, new SequenceBody(new ReadOnlySequence<byte>(body)), timeout, cancellationToken);

    /// <summary>
    /// Hands a message to the session with a routing id, one-way: what the server cannot hand over is counted there and nobody is told.
    /// </summary>
    /// <param name="to">The routing id.</param>
    /// <param name="type">A type of the application's own; the target finds its handler by it.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public ValueTask RelayOneWayAsync<TBody>(string to, uint type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(to);
        return SendAsync(ControlType.Relay, new RoutedBody<TBody>(to, type, body), cancellationToken);
    }

    /// <summary>
    /// Handles what other peers relay to this one. Register before connecting where nothing may be missed: a message without a handler is
    /// counted as a one-way failure and dropped.
    /// </summary>
    /// <param name="type">The type that the sender gave the message.</param>
    /// <param name="handler">The handler.</param>
    /// <exception cref="ArgumentException">The type has a handler.</exception>
    public void OnRelayed(uint type, RoutedHandler handler)
    {
        ArgumentNullException.ThrowIfNull(handler);
        if (!_routing.TryAdd(type, handler))
        {
            throw new ArgumentException($"Relayed messages of type {type} have a handler already; a type has one.", nameof(type));
        }
    }

    /// <summary>Publishes: every session subscribed to a prefix of the topic gets the message, this one included.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="type">A type of the application's own.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives up; it may have been published all the same.</param>
    /// <returns>How many sessions' send queues at the server took it; one that had no room does not get it.</returns>
    /// <exception cref="RequestFailedException">
    /// MalformedBody: the topic is too long. UnknownType: the server has no topics. Or no reply came.
    /// </exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public Task<int> PublishAsync<TBody>(
        string topic, uint type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(topic);
        return RequestAsync(ControlType.Publish, new RoutedBody<TBody>(topic, type, body), ReadDelivered, timeout, cancellationToken);
    }

    /// <inheritdoc cref="PublishAsync{TBody}"/>
    public Task<int> PublishAsync(
        string topic, uint type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        PublishAsync(topic, type, new SequenceBody(new ReadOnlySequence<byte>(body)), timeout, cancellationToken);

    /// <summary>Publishes one-way: nobody is told how many got it.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="type">A type of the application's own.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <exception cref="SendFailedException">Nothing was sent: the body is too large.</exception>
    /// <exception cref="RequestFailedException">Nothing was sent: there was no connection in time, or the client is closed.</exception>
    public ValueTask PublishOneWayAsync<TBody>(
        string topic, uint type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(topic);
        return SendAsync(ControlType.Publish, new RoutedBody<TBody>(topic, type, body), cancellationToken);
    }

    /// <summary>
    /// Subscribes to all topics with a prefix. The subscription outlives the connection: each new session is subscribed before it takes
    /// requests (what is published in between is missed). A message whose topic has several subscribed prefixes comes once and goes to the
    /// handler of each.
    /// </summary>
    /// <param name="prefix">What the topics begin with; empty for all topics.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives up; not subscribed then.</param>
    /// <exception cref="InvalidOperationException">
    /// This client is subscribed to the prefix, or its UnsubscribeAsync has not ended yet.
    /// </exception>
    /// <exception cref="RequestFailedException">
    /// Overloaded: the session has as many topics as it may have. MalformedBody: the prefix is too long. UnknownType: the server has no
    /// topics. Or no reply came. Not subscribed then.
    /// </exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public async Task SubscribeAsync(
        string prefix, RoutedHandler handler, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(handler);

        // First, as messages may come before the reply.
        if (!_routing.TryAdd(prefix, handler))
        {
            throw new InvalidOperationException($"This client is subscribed to '{prefix}' already; a prefix has one handler.");
        }

        try
        {
            await RequestTopicAsync(ControlType.Subscribe, prefix, timeout, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            // The server may have taken it. First, so that nobody else can be subscribed by then.
            Session?.TrySend(ControlType.Unsubscribe, new TopicBody(prefix));
            _routing.Forget(prefix);
            throw;
        }
    }

    /// <summary>
    /// Ends a subscription. The handler is not called any more, whatever becomes of the request. Does nothing where there is none.
    /// </summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public async Task UnsubscribeAsync(string prefix, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        if (!_routing.TrySilence(prefix))
        {
            return;
        }

        try
        {
            await RequestTopicAsync(ControlType.Unsubscribe, prefix, timeout, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            // Not before: a new subscription must not be ended by this request.
            _routing.Forget(prefix);
        }
    }

    /// <summary>Lists the sessions that have routing ids, in the ordinal order of those, a page at a time.</summary>
    /// <param name="prefix">Only ids that begin with it. Defaults to all.</param>
    /// <param name="limit">Peers of the page at most; the server may send fewer. Defaults to 0: the server's default.</param>
    /// <param name="after">Only ids that come after it: the last one of the page before. Defaults to the beginning.</param>
    /// <param name="timeout">Time for all of it. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.</param>
    /// <param name="cancellationToken">Gives the request up.</param>
    /// <returns>The page; empty behind the last one.</returns>
    /// <exception cref="RequestFailedException">UnknownType: the server does not list its peers. Or no reply came.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public Task<IReadOnlyList<PeerInfo>> ListPeersAsync(
        string prefix = "", int limit = 0, string after = "", TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(after);
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        return RequestAsync(ControlType.Peers, new PeersQueryBody(prefix, (uint)limit, after), ReadPeers, timeout, cancellationToken);
    }

    // Saying it twice does no harm, so a connection that is lost meanwhile costs a second try and no failure.
    private async Task RequestTopicAsync(ushort type, string prefix, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        TimeSpan limit = timeout ?? _options.RequestTimeout;
        long started = _clock.PreciseMilliseconds;
        while (true)
        {
            try
            {
                await RequestAsync(type, new TopicBody(prefix), ReadNothing, Left(limit, started), cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost && _options.Reconnect)
            {
                // The next session.
            }
        }
    }

    // Before the session takes requests: what is published through it comes back to it. What the server refuses now is logged, as it had
    // taken it before, and is asked for again on the session after.
    private async Task SubscribeAgainAsync(Session session, CancellationToken cancellationToken)
    {
        List<(string Prefix, AwaitedReply<bool> Reply)> requests = [];
        foreach (string prefix in _routing.Prefixes)
        {
            var reply = new AwaitedReply<bool>(ReadNothing);
            SendStatus status;
            while ((status = session.TryRequest(
                ControlType.Subscribe, new TopicBody(prefix), reply, timing: false, _options.ConnectTimeout, out _)) == SendStatus.Full)
            {
                await session.WhenWritableAsync(cancellationToken).ConfigureAwait(false);
            }

            if (status == SendStatus.Queued)
            {
                requests.Add((prefix, reply));
            }
        }

        foreach ((string prefix, AwaitedReply<bool> reply) in requests)
        {
            try
            {
                await reply.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (RequestFailedException e)
            {
                ClientLog.SubscribeAgainFailed(_logger, session, prefix, PeerText.Escape(e.Message));
            }
        }
    }

    private static bool ReadNothing(scoped in InboundReply reply) => true;

    private static int ReadDelivered(scoped in InboundReply reply) =>
        DeliveredBody.TryRead(reply.Body.ToArray(), out DeliveredBody delivered) ? (int)delivered.Sessions : throw Malformed("Delivered");

    private static IReadOnlyList<PeerInfo> ReadPeers(scoped in InboundReply reply) =>
        PeerListBody.TryRead(reply.Body.ToArray(), out List<PeerInfo> peers) ? peers : throw Malformed("PeerList");

    private static RequestFailedException Malformed(string message) =>
        new(ErrorCode.MalformedBody, $"The server's reply is no {message} message.");
}
