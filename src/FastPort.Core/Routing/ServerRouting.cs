using System.Runtime.CompilerServices;
using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Telemetry.Counters;

namespace FastPort.Routing;

/// <summary>
/// A server's sessions by routing id and its topics, for the program that embeds it. Works whatever <see cref="RoutingOptions"/> let peers
/// do. Thread-safe; nothing here blocks, so inline handlers may use it, but must not await.
/// </summary>
public sealed class ServerRouting
{
    private readonly RoutingOptions _options;
    private readonly IdentityRegistry _identities;
    private readonly TopicIndex _topics;
    private readonly IMessageRouter _router;
    private readonly PeerDirectory _peers;
    private readonly ServerCounters _counters;

    internal ServerRouting(
        RoutingOptions options, IdentityRegistry identities, Func<IMessageRouter, IMessageRouter>? replaceRouter, ServerCounters counters)
    {
        _options = options;
        _identities = identities;
        _counters = counters;
        _topics = new TopicIndex(options, counters);
        _peers = new PeerDirectory(identities);
        var local = new LocalRouter(identities, _topics);
        _router = replaceRouter is null ? local : replaceRouter(local);
    }

    /// <summary>The session with this routing id; null where there is none.</summary>
    /// <param name="routingId">The id.</param>
    public Session? Find(string routingId)
    {
        ArgumentNullException.ThrowIfNull(routingId);
        return _identities.Find(routingId)?.Session;
    }

    /// <summary>Sends a one-way message to the session with a routing id if there is room now.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded straight into the send queue.</param>
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound where nobody has the id.</returns>
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
    /// <returns>Queued; Full or Dropped as the target's policy says; TooLarge; NotFound where nobody has the id.</returns>
    public SendStatus TrySendTo(string routingId, ushort type, scoped ReadOnlySpan<byte> body) =>
        TrySendTo(routingId, type, new RawBody(body));

    /// <summary>Sends a one-way message to the session with a routing id, waiting for room where its policy says so.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <exception cref="SendFailedException">Nothing was sent: nobody has the id, or the body is too large.</exception>
    public ValueTask SendToAsync<TBody>(string routingId, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RouteTo(routingId).SendAsync(type, body, cancellationToken);

    /// <summary>As <see cref="SendToAsync{TBody}"/>, with a status instead of an exception.</summary>
    /// <param name="routingId">The id.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; must stay unchanged until the task ends.</param>
    /// <param name="cancellationToken">Gives up waiting; nothing was sent then.</param>
    /// <returns>Queued, Dropped, TooLarge or NotFound.</returns>
    public ValueTask<SendStatus> TrySendToAsync<TBody>(
        string routingId, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RouteTo(routingId).TrySendAsync(type, body, cancellationToken);

    /// <summary>
    /// A handle for sending to one routing id many times, without looking it up each time. Get it whether or not somebody has the id now.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <exception cref="ArgumentException">No session can have such an id: it is empty or has more than 256 characters.</exception>
    public Route RouteTo(string routingId)
    {
        ArgumentException.ThrowIfNullOrEmpty(routingId);
        if (routingId.Length > RoutingIdLimits.MaxLength)
        {
            throw new ArgumentException(
                $"The routing id has {routingId.Length} characters; allowed are 1 to {RoutingIdLimits.MaxLength}.", nameof(routingId));
        }

        return new Route(routingId, _identities, _router);
    }

    /// <summary>
    /// Says Goodbye to the session with a routing id and closes it; see <see cref="Session.Kick"/>. False where nobody has the id.
    /// </summary>
    /// <param name="routingId">The id.</param>
    /// <param name="code">Code for the peer.</param>
    /// <param name="reason">Sentence for the peer and the log. Name no internals.</param>
    public bool Kick(string routingId, ErrorCode code, string reason)
    {
        Session? session = Find(routingId);
        session?.Kick(code, reason);
        return session is not null;
    }

    /// <summary>The sessions with routing ids and their traffic, in the ordinal order of the ids. Looks through all sessions.</summary>
    /// <param name="prefix">Only ids that begin with it. Defaults to all.</param>
    /// <param name="limit">How many at most; 1 or more. Defaults to all.</param>
    /// <param name="after">Only ids that come after it: the last one of the page before. Defaults to the beginning.</param>
    public IReadOnlyList<PeerInfo> ListPeers(string prefix = "", int limit = int.MaxValue, string after = "")
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentNullException.ThrowIfNull(after);
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        return _peers.List(prefix, limit, after);
    }

    /// <summary>
    /// Publishes: every session that this program has subscribed to a prefix of the topic gets a one-way Publish message whose <c>from</c>
    /// is <c>$server</c>; where the topic is one of <see cref="RoutingOptions.SharedTopics"/>, those too that have subscribed themselves.
    /// Nobody is waited for. All of it is done before this returns: publish to many thousands from
    /// a queued handler or a thread of your own, not on a session's loop.
    /// </summary>
    /// <param name="topic">The topic; as long as <see cref="RoutingOptions.MaxTopicBytes"/> allows.</param>
    /// <param name="type">The application's own type of the message.</param>
    /// <param name="body">The body, encoded once.</param>
    /// <returns>How many send queues took it.</returns>
    /// <exception cref="ArgumentException">The topic is too long, or the message for any frame.</exception>
    public int Publish<TBody>(string topic, uint type, TBody body)
        where TBody : IFrameBody => PublishCore(topic, new RoutedBody<TBody>(topic, type, body, RoutingIdentity.ServerFromField));

    /// <inheritdoc cref="Publish{TBody}"/>
    public int Publish(string topic, uint type, scoped ReadOnlySpan<byte> body)
    {
        ArgumentNullException.ThrowIfNull(topic);
        return PublishCore(topic, new RoutedBody(Encoding.UTF8.GetBytes(topic), type, body, RoutingIdentity.ServerFromField));
    }

    /// <summary>
    /// Subscribes a session to topics of this program's own, and so makes groups by name. What peers publish does not reach it this way,
    /// but on <see cref="RoutingOptions.SharedTopics"/>. False where it has as many as it may have
    /// (<see cref="RoutingOptions.MaxTopicsPerSession"/>, 8 within each other), or has ended.
    /// </summary>
    /// <param name="session">The session; it should expect Publish messages.</param>
    /// <param name="prefix">What its topics begin with; empty for all topics.</param>
    /// <exception cref="ArgumentException">The prefix is longer than <see cref="RoutingOptions.MaxTopicBytes"/>.</exception>
    public bool Subscribe(Session session, string prefix)
    {
        ArgumentNullException.ThrowIfNull(session);
        return _topics.Subscribe(session, EncodeTopic(prefix), TopicAudience.Server) is TopicChange.Made or TopicChange.None;
    }

    /// <summary>Ends a subscription that <see cref="Subscribe"/> has made. False where there was none.</summary>
    /// <param name="session">The session.</param>
    /// <param name="prefix">The prefix it was subscribed to.</param>
    public bool Unsubscribe(Session session, string prefix)
    {
        ArgumentNullException.ThrowIfNull(session);
        return _topics.Unsubscribe(session, EncodeTopic(prefix), TopicAudience.Server) == TopicChange.Made;
    }

    /// <summary>The handlers of the types that peers may use; null where that is none.</summary>
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
            handlers.MapFramework(new HandlerEntry(ControlType.Peers, nameof(ControlType.Peers), null, _peers.HandleAsync));
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
