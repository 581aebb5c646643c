using System.Buffers;
using FastPort.Clients;
using FastPort.Framing;
using FastPort.Logging;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Requests;

namespace FastPort;

// Messages to and from other peers, through the server.
public sealed partial class FastPortClient
{
    // A server that has refused a subscription may do so for a long time.
    private static readonly TimeSpan LongestSubscribeDelay = TimeSpan.FromSeconds(30);

    private readonly ClientRouting _routing = new();

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
    /// Subscribes to all topics with a prefix. The subscription outlives the connection: the client subscribes each new session before
    /// requests use it; the client requests a temporarily refused subscription again. Messages published in between are missed. A message
    /// whose topic has several subscribed prefixes is received once and passed to the handler of each.
    /// </summary>
    /// <param name="prefix">The prefix of the topics; empty for all topics.</param>
    /// <param name="handler">The handler.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; then the client is not subscribed.</param>
    /// <exception cref="InvalidOperationException">
    /// This client is already subscribed to the prefix, or UnsubscribeAsync of the prefix has not ended yet.
    /// </exception>
    /// <exception cref="RequestFailedException">
    /// Overloaded: the session has the maximum number of topics. MalformedBody: the prefix is too long. UnknownType: the server has no
    /// topics. Or no reply came. Then the client is not subscribed.
    /// </exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
    public async Task SubscribeAsync(
        string prefix, RoutedHandler handler, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(handler);

        // Added first: messages can arrive before the reply.
        if (!_routing.TryAdd(prefix, handler))
        {
            throw new InvalidOperationException($"This client is already subscribed to '{prefix}'; a prefix has one handler.");
        }

        try
        {
            await RequestTopicAsync(ControlType.Subscribe, prefix, timeout, cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            // The server may have subscribed the session. Unsubscribe before the prefix is free for another subscription, even if the queue
            // is full: that is when a Subscribe gets no reply in time. A session that is just being created is subscribed by its creator.
            _routing.TrySilence(prefix);
            Session?.Protocol.Output.SendControl(ControlType.Unsubscribe, new TopicBody(prefix));
            _routing.Forget(prefix);
            throw;
        }
    }

    /// <summary>
    /// Ends a subscription. The handler is no longer called, even if the request fails. Ignored if there is no subscription.
    /// </summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="timeout">
    /// Time for the whole call. Defaults to <see cref="FastPortClientOptions.RequestTimeout"/>; zero for no limit.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    /// <exception cref="OperationCanceledException">Canceled.</exception>
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
            // Only now: this request must not end a new subscription.
            _routing.Forget(prefix);
        }
    }

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

    // The request is idempotent, so it is retried when the connection is lost in the meantime.
    private async Task RequestTopicAsync(ushort type, string prefix, TimeSpan? timeout, CancellationToken cancellationToken)
    {
        var limit = new TimeLimit(timeout ?? _options.RequestTimeout);
        limit.Waits(_clock);
        while (true)
        {
            try
            {
                await RequestAsync(type, new TopicBody(prefix), ReadNothing, limit.Left, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost && _options.Reconnect)
            {
                // Retried on the next session.
                limit.Waited(_clock);
            }
        }
    }

    // Subscribes the session to those of the prefixes that the client is subscribed to, and ends those that were given up in the meantime.
    // A refusal is logged, not thrown: the server accepted the subscription before. Returns the prefixes to ask for again later in the
    // session.
    private async Task<List<string>> SubscribeAgainAsync(Session session, string[] prefixes, CancellationToken cancellationToken)
    {
        List<string> later = [];
        List<(string Prefix, Task<bool> Reply)> requests = [];
        foreach (string prefix in prefixes.Intersect(_routing.Prefixes, StringComparer.Ordinal))
        {
            var reply = AwaitedReply<bool>.Rent(ReadNothing);
            SendStatus status;
            while ((status = session.TryRequest(
                ControlType.Subscribe, new TopicBody(prefix), reply, timing: false, _options.ConnectTimeout, out _)) == SendStatus.Full)
            {
                await session.WhenWritableAsync(cancellationToken).ConfigureAwait(false);
            }

            if (status == SendStatus.Queued)
            {
                requests.Add((prefix, reply.AsTask()));
            }
        }

        foreach ((string prefix, Task<bool> reply) in requests)
        {
            try
            {
                await reply.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (RequestFailedException e)
            {
                bool isFinal = e.Code is ErrorCode.Forbidden or ErrorCode.MalformedBody or ErrorCode.UnknownType;
                if (!isFinal)
                {
                    later.Add(prefix);
                }

                ClientLog.SubscribeAgainFailed(
                    _logger, session, prefix, PeerText.Escape(e.Message),
                    isFinal ? "The client asks again on the next session." : "The client asks again.");
            }
        }

        // A caller that gave up a subscription in the meantime had no session on which to end it. A new subscription since then may have
        // been made before this Unsubscribe.
        string[] givenUp = [.. prefixes.Except(_routing.Prefixes, StringComparer.Ordinal)];
        foreach (string prefix in givenUp)
        {
            session.Protocol.Output.SendControl(ControlType.Unsubscribe, new TopicBody(prefix));
        }

        later.AddRange(givenUp.Intersect(_routing.Prefixes, StringComparer.Ordinal));
        return later;
    }

    // While requests use the session. Ends with it, or with the client.
    private async Task SubscribeLaterAsync(Session session, List<string> prefixes, CancellationToken closing)
    {
        var delays = new ReconnectBackoff(
            _options.ReconnectDelay,
            _options.MaxReconnectDelay > LongestSubscribeDelay ? _options.MaxReconnectDelay : LongestSubscribeDelay);
        delays.Next();
        try
        {
            while (prefixes.Count != 0)
            {
                await Task.Delay(delays.Next(), _clock.Time, closing).ConfigureAwait(false);
                if (session.IsClosed)
                {
                    return;
                }

                prefixes = await SubscribeAgainAsync(session, [.. prefixes], closing).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // The client was closed.
        }
    }

    private static bool ReadNothing(scoped in InboundReply reply) => true;

    private static int ReadDelivered(scoped in InboundReply reply) =>
        DeliveredBody.TryRead(reply.Body.ToArray(), out DeliveredBody delivered) ? (int)delivered.Sessions : throw Malformed("Delivered");

    private static IReadOnlyList<PeerInfo> ReadPeers(scoped in InboundReply reply) =>
        PeerListBody.TryRead(reply.Body.ToArray(), out List<PeerInfo> peers) ? peers : throw Malformed("PeerList");

    private static RequestFailedException Malformed(string message) =>
        new(ErrorCode.MalformedBody, $"The server's reply is not a valid {message} message.");
}
