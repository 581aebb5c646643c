using System.Runtime.CompilerServices;
using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort;

/// <summary>
/// A server's sessions by routing id, and its topics, for the server's program. Independent of what <see cref="RoutingOptions"/> allow
/// peers. Thread-safe. No method blocks, so inline handlers may call them, but must not await.
/// </summary>
public sealed class ServerRouting
{
    private readonly RoutingOptions _options;
    private readonly IdentityRegistry _identities;
    private readonly TopicIndex _topics;
    private readonly IMessageRouter _router;
    private readonly PeerDirectory _peers;
    private readonly IPeers _allPeers;
    private readonly SessionCounters _counters;

    internal ServerRouting(
        RoutingOptions options,
        IdentityRegistry identities,
        Func<IMessageRouter, IMessageRouter>? replaceRouter,
        SessionCounters counters,
        ITopicInterests? interests = null,
        Func<IPeers, IPeers>? replacePeers = null)
    {
        _options = options;
        _identities = identities;
        _counters = counters;
        _topics = new TopicIndex(options, counters, interests);
        _peers = new PeerDirectory(identities);
        _allPeers = replacePeers?.Invoke(_peers) ?? _peers;
        var local = new LocalRouter(identities, _topics);
        _router = replaceRouter is null ? local : replaceRouter(local);
    }

    /// <summary>The session of this server with this routing id; null if there is none.</summary>
    /// <param name="routingId">The id.</param>
    public Session? Find(string routingId)
    {
        ArgumentNullException.ThrowIfNull(routingId);
        return _identities.Find(routingId)?.Session;
    }

    /// <summary>Sends a one-way message to the session with a routing id if there is room now.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded into the send queue.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound if no session has the id.</returns>
    [SkipLocalsInit]
    public SendStatus TrySendTo<TBody>(string routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        ArgumentNullException.ThrowIfNull(routingId);
        Span<byte> utf8 = stackalloc byte[RoutingIdLimits.MaxBytes];
        return TryEncode(routingId, utf8, out int bytes) ? _router.TrySend(utf8[..bytes], type, in body) : SendStatus.NotFound;
    }

    /// <summary>Sends a one-way message to the session with a routing id if there is room now.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; copied.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound if no session has the id.</returns>
    public SendStatus TrySendTo(string routingId, ushort type, scoped ReadOnlySpan<byte> body) =>
        TrySendTo(routingId, type, new RawBody(body));

    /// <summary>Sends a one-way message to the session with a routing id, and waits for room if its policy says so.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">
    /// Cancels the wait; nothing is sent then, unless the message is already on its way to another server.
    /// </param>
    /// <exception cref="SendFailedException">
    /// Nothing was sent: no session has the id, or the body is too large. With a router that forwards messages also: the other servers
    /// cannot be reached, or one has not confirmed the message, which may still have been delivered.
    /// </exception>
    public ValueTask SendToAsync<TBody>(string routingId, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RouteTo(routingId).SendAsync(type, body, cancellationToken);

    /// <summary>As <see cref="SendToAsync{TBody}"/>, but returns a status instead of throwing.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">
    /// Cancels the wait; nothing is sent then, unless the message is already on its way to another server.
    /// </param>
    /// <returns>As <see cref="Route.TrySendAsync{TBody}"/>.</returns>
    public ValueTask<SendStatus> TrySendToAsync<TBody>(
        string routingId, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RouteTo(routingId).TrySendAsync(type, body, cancellationToken);

    /// <summary>
    /// Creates a handle for sending to one routing id many times without a lookup each time. The id need not be in use now.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <exception cref="ArgumentException">No session can have such an id: it is empty or has more than 256 characters.</exception>
    public Route RouteTo(string routingId)
    {
        ArgumentException.ThrowIfNullOrEmpty(routingId);
        if (routingId.Length > RoutingIdLimits.MaxLength)
        {
            throw new ArgumentException(
                $"The routing id has {routingId.Length} characters; allowed: 1 to {RoutingIdLimits.MaxLength}.", nameof(routingId));
        }

        return new Route(routingId, _identities, _router);
    }

    /// <summary>
    /// Says Goodbye to the session of this server with a routing id and closes it; see <see cref="Session.Kick"/>. False if no session has
    /// the id.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log. It must not contain internals.</param>
    public bool Kick(string routingId, ErrorCode code, string reason)
    {
        Session? session = Find(routingId);
        session?.Kick(code, reason);
        return session is not null;
    }

    /// <summary>
    /// Finds the session with a routing id on all nodes of a backplane; without one, on this server alone, as <see cref="Find"/>.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="cancellationToken">Cancels the wait for other nodes.</param>
    /// <returns>The session; null if there is none, or its node cannot be asked.</returns>
    public ValueTask<PeerInfo?> FindAcrossNodesAsync(string routingId, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(routingId);
        return _allPeers.FindAsync(routingId, cancellationToken);
    }

    /// <summary>
    /// As <see cref="Kick"/>, for a session of any node of a backplane. False also if the session's node cannot be asked.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log. It must not contain internals.</param>
    /// <param name="cancellationToken">Cancels the wait for other nodes.</param>
    public ValueTask<bool> KickAcrossNodesAsync(
        string routingId, ErrorCode code, string reason, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(routingId);
        ArgumentNullException.ThrowIfNull(reason);
        return _allPeers.KickAsync(routingId, code, reason, cancellationToken);
    }

    /// <summary>
    /// The sessions of all nodes of a backplane, with their traffic, in ordinal order of the ids; without a backplane, those of this
    /// server, as <see cref="ListPeers"/>. Reads pages as the loop needs them, and each page asks every node: a session that begins or
    /// ends meanwhile may or may not be listed. Nodes that cannot be asked are left out.
    /// </summary>
    /// <param name="prefix">Only ids that begin with it. Defaults to all.</param>
    /// <param name="after">Only ids that follow it. Defaults to the beginning.</param>
    /// <param name="cancellationToken">Cancels the wait for other nodes.</param>
    public IAsyncEnumerable<PeerInfo> ListPeersAcrossNodesAsync(
        string prefix = "", string after = "", CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(after);

        // A page visits all sessions, so few pages are better. The first is small, because a loop may end early.
        return PeerPages.ReadAsync(
            (last, token) => _allPeers.ListAsync(
                prefix, last == after ? PeerDirectory.DefaultPage : PeerDirectory.LargestPage, last, token),
            after,
            cancellationToken);
    }

    /// <summary>
    /// The sessions of this server with routing ids and their traffic, in ordinal order of the ids. Visits all sessions.
    /// </summary>
    /// <param name="prefix">Only ids that begin with it. Defaults to all.</param>
    /// <param name="limit">Maximum number of sessions; 1 or more. Defaults to all.</param>
    /// <param name="after">Only ids that follow it: the last one of the previous page. Defaults to the beginning.</param>
    public IReadOnlyList<PeerInfo> ListPeers(string prefix = "", int limit = int.MaxValue, string after = "")
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(after);
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        return _peers.List(prefix, limit, after);
    }

    /// <summary>
    /// Publishes: every session that this program has subscribed to a prefix of the topic receives a one-way Publish message whose
    /// <c>from</c> is <c>$server</c>. If the topic is one of <see cref="RoutingOptions.SharedTopics"/>, sessions subscribed by their peers
    /// receive it too. The call does not wait for room, but sends to all of them before it returns: publish to many thousands from a queued
    /// handler or a separate thread, not on a session's loop.
    /// </summary>
    /// <param name="topic">The topic; at most <see cref="RoutingOptions.MaxTopicBytes"/> long.</param>
    /// <param name="type">The application's message type.</param>
    /// <param name="body">The body, encoded once.</param>
    /// <returns>
    /// The number of send queues of this server that accepted the message. With a backplane it reaches sessions of other servers too, which
    /// are not counted.
    /// </returns>
    /// <exception cref="ArgumentException">The topic is too long, or the message exceeds the largest frame.</exception>
    public int Publish<TBody>(string topic, ushort type, TBody body)
        where TBody : IFrameBody => PublishCore(topic, new RoutedBody<TBody>(topic, type, body, RoutingIdentity.ServerFromField));

    /// <inheritdoc cref="Publish{TBody}"/>
    public int Publish(string topic, ushort type, scoped ReadOnlySpan<byte> body)
    {
        ArgumentNullException.ThrowIfNull(topic);
        return PublishCore(topic, new RoutedBody(Encoding.UTF8.GetBytes(topic), type, body, RoutingIdentity.ServerFromField));
    }

    /// <summary>
    /// Subscribes a session to topics of this program, for example to form named groups. Publications of peers do not reach such a
    /// subscription, except on <see cref="RoutingOptions.SharedTopics"/>. False if the session has the maximum number of subscriptions
    /// (<see cref="RoutingOptions.MaxTopicsPerSession"/>, 8 of them nested), or has ended.
    /// </summary>
    /// <param name="session">The session; its peer must handle Publish messages.</param>
    /// <param name="prefix">Prefix of the topics; empty for all topics.</param>
    /// <exception cref="ArgumentException">The prefix is longer than <see cref="RoutingOptions.MaxTopicBytes"/>.</exception>
    public bool Subscribe(Session session, string prefix)
    {
        ArgumentNullException.ThrowIfNull(session);
        return _topics.Subscribe(session, EncodeTopic(prefix), TopicAudience.Server) is TopicChange.Made or TopicChange.None;
    }

    /// <summary>Ends a subscription made by <see cref="Subscribe"/>; false if there was none.</summary>
    /// <param name="session">The session.</param>
    /// <param name="prefix">The prefix that the session was subscribed to.</param>
    public bool Unsubscribe(Session session, string prefix)
    {
        ArgumentNullException.ThrowIfNull(session);
        return _topics.Unsubscribe(session, EncodeTopic(prefix), TopicAudience.Server, limited: false) == TopicChange.Made;
    }

    /// <summary>
    /// Ends the peers' subscriptions that are no longer allowed, for a program that has changed its rules. A Subscribe that was allowed
    /// before may still be in progress: call this again a little later.
    /// </summary>
    /// <param name="isAllowed">Called once for each subscription, with its session and prefix.</param>
    /// <returns>The ended subscriptions.</returns>
    public IReadOnlyList<(Session Session, string Prefix)> EndSubscriptions(Func<Session, string, bool> isAllowed)
    {
        ArgumentNullException.ThrowIfNull(isAllowed);
        List<(Session Session, string Prefix)> ended = [];
        foreach ((Session session, byte[] prefix) in _topics.ListOfPeers())
        {
            string text = Encoding.UTF8.GetString(prefix);
            if (!isAllowed(session, text)
                && _topics.Unsubscribe(session, prefix, TopicAudience.Peers, limited: false) == TopicChange.Made)
            {
                ended.Add((session, text));
            }
        }

        return ended;
    }

    /// <summary>The handlers of the routing types that are enabled for peers; null if none is.</summary>
    internal MessageHandlers? CreateHandlers()
    {
        var handlers = new MessageHandlers();
        if (_options.Relay)
        {
            Map(ControlType.Relay, nameof(ControlType.Relay), new RelayHandler(
                _options, _router, _counters).Handle, RoutedAddress.TryReadTarget);
        }

        if (_options.Topics)
        {
            var topics = new TopicHandlers(_options, _router, _topics, _counters);
            var addresses = new RoutedAddress(_options.MaxTopicBytes);
            Map(ControlType.Subscribe, nameof(ControlType.Subscribe), topics.Subscribe, addresses.TryReadPrefix);
            Map(ControlType.Unsubscribe, nameof(ControlType.Unsubscribe), topics.Unsubscribe, addresses.TryReadPrefix);
            Map(ControlType.Publish, nameof(ControlType.Publish), topics.Publish, addresses.TryReadTopic);
        }

        if (_options.Peers)
        {
            handlers.MapFramework(new HandlerEntry(
                ControlType.Peers, nameof(ControlType.Peers), null, context => PeerDirectory.HandleAsync(_allPeers, context)));
        }

        return handlers.Entries.Count == 0 ? null : handlers;

        void Map(ushort type, string name, InlineHandler handler, AddressReader readAddress) =>
            handlers.MapFramework(new HandlerEntry(type, name, handler, null) { StaysOnLoop = true, ReadAddress = readAddress });
    }

    internal static bool TryEncode(string routingId, Span<byte> utf8, out int bytes) =>
        Encoding.UTF8.TryGetBytes(routingId, utf8, out bytes);

    private int PublishCore<TBody>(string topic, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        byte[] utf8 = EncodeTopic(topic);
        TopicAudience audience = _topics.AudienceOf(utf8, TopicAudience.Server);
        int sessions = 0;
        int next = 0;
        do
        {
            sessions += _router.Publish(utf8, audience, ControlType.Publish, in body, ref next);
        }
        while (next != 0);
        _counters.Published(sessions);
        return sessions;
    }

    private byte[] EncodeTopic(string topic)
    {
        ArgumentNullException.ThrowIfNull(topic);
        byte[] utf8 = Encoding.UTF8.GetBytes(topic);
        return utf8.Length <= _options.MaxTopicBytes
            ? utf8
            : throw new ArgumentException(
                $"The topic has {utf8.Length} bytes in UTF-8; FastPort:Routing:MaxTopicBytes allows {_options.MaxTopicBytes}.",
                nameof(topic));
    }
}
