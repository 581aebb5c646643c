using System.Diagnostics.CodeAnalysis;
using System.Text;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Routing;

/// <summary>The result of changing a subscription.</summary>
internal enum TopicChange
{
    /// <summary>The subscription was changed.</summary>
    Made,

    /// <summary>There was nothing to change.</summary>
    None,

    /// <summary>The session has the maximum number of subscriptions.</summary>
    TooMany,

    /// <summary>The prefix would exceed the number of nested prefixes.</summary>
    TooDeep,

    /// <summary>The peer has made too many changes recently.</summary>
    TooOften,

    /// <summary>The session has ended.</summary>
    Closed,
}

/// <summary>
/// The subscribers of each prefix; subscriptions by the server's program are kept apart from those by peers. <see cref="_gate"/> serializes
/// changes; publishing reads without a lock. A session that ends is unsubscribed from all its prefixes. If it has many, the thread pool
/// does so, some at a time, so that neither its loop nor other threads wait long for the gate. Listeners are notified under the gate of
/// prefixes with subscribers, so that they receive the changes in order.
/// </summary>
internal sealed class TopicIndex(RoutingOptions options, SessionCounters counters, ITopicInterests? interests = null)
    : ISessionHolder, IThreadPoolWorkItem
{
    /// <summary>
    /// Maximum number of nested prefixes of one session and of the side that subscribed it: a publication matches the session at most this
    /// number of times, twice on a shared topic.
    /// </summary>
    public const int MaxNested = 8;

    /// <summary>Prefixes released at a time.</summary>
    public const int ReleasedAtOnce = 16;

    private readonly Lock _gate = new();
    private readonly PrefixTrie<MemberSet<Subscriber>> _byPeers = new();
    private readonly PrefixTrie<MemberSet<Subscriber>> _byServer = new();
    private readonly PrefixTrie<string> _shared = Shared(options.SharedTopics);
    private readonly Dictionary<Session, Subscriber> _subscribers = [];
    private readonly Queue<Subscriber> _ended = new();
    private readonly Stack<int> _freeNumbers = new();
    private int _numbers;

    /// <summary>The subscriptions that a publication reaches: those of its publisher's side, or all if the topic is shared.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="publisher">Peers or the server.</param>
    public TopicAudience AudienceOf(ReadOnlySpan<byte> topic, TopicAudience publisher) =>
        _shared.Match(topic).MoveNext() ? TopicAudience.All : publisher;

    /// <summary>Upper bound (exclusive) of the subscribers' numbers so far. Any thread.</summary>
    public int Numbers => Volatile.Read(ref _numbers);

    /// <summary>The subscribers of each prefix of a topic.</summary>
    public Matches Match(ReadOnlySpan<byte> topic, TopicAudience audience) => new(
        (audience & TopicAudience.Peers) != 0 ? _byPeers.Match(topic) : default, (audience & TopicAudience.Server) != 0
            ? _byServer.Match(topic)
            : default);

    /// <summary>Subscribes a session.</summary>
    /// <param name="session">The session.</param>
    /// <param name="prefix">The prefix.</param>
    /// <param name="by">The side that subscribes; the rate of peers' changes is limited.</param>
    public TopicChange Subscribe(Session session, ReadOnlySpan<byte> prefix, TopicAudience by)
    {
        lock (_gate)
        {
            if (!TryGetSubscriber(session, out Subscriber? subscriber))
            {
                return TopicChange.Closed;
            }

            if (by == TopicAudience.Peers && !MayChange(subscriber))
            {
                return TopicChange.TooOften;
            }

            PrefixTrie<byte[]> own = by == TopicAudience.Peers ? subscriber.OfPeer : subscriber.OfServer ??= new PrefixTrie<byte[]>();
            if (own.Find(prefix) is not null)
            {
                return TopicChange.None;
            }

            if (subscriber.Count >= options.MaxTopicsPerSession)
            {
                return TopicChange.TooMany;
            }

            if (IsTooDeep(own, prefix))
            {
                return TopicChange.TooDeep;
            }

            own.Set(prefix, prefix.ToArray());
            subscriber.Count++;
            Join(by == TopicAudience.Peers ? _byPeers : _byServer, subscriber, prefix);
            counters.Subscribed(1);
            return TopicChange.Made;
        }
    }

    /// <summary>
    /// The subscriptions that peers have made; of each session those it has when its turn comes. The gate is held for one session at a
    /// time: event loops wait for it.
    /// </summary>
    public IEnumerable<(Session Session, byte[] Prefix)> ListOfPeers()
    {
        Subscriber[] subscribers;
        lock (_gate)
        {
            subscribers = [.. _subscribers.Values];
        }

        foreach (Subscriber subscriber in subscribers)
        {
            List<byte[]> prefixes;
            lock (_gate)
            {
                prefixes = subscriber.OfPeer.ToList();
            }

            foreach (byte[] prefix in prefixes)
            {
                yield return (subscriber.Session, prefix);
            }
        }
    }

    /// <summary>Ends a subscription.</summary>
    /// <param name="session">The session.</param>
    /// <param name="prefix">The prefix.</param>
    /// <param name="by">The side that has subscribed.</param>
    /// <param name="limited">Whether it is the peer that unsubscribes: the rate of its changes is limited.</param>
    public TopicChange Unsubscribe(Session session, ReadOnlySpan<byte> prefix, TopicAudience by, bool limited)
    {
        lock (_gate)
        {
            if (!_subscribers.TryGetValue(session, out Subscriber? subscriber))
            {
                return TopicChange.None;
            }

            if (limited && !MayChange(subscriber))
            {
                return TopicChange.TooOften;
            }

            PrefixTrie<byte[]>? own = by == TopicAudience.Peers ? subscriber.OfPeer : subscriber.OfServer;
            if (own?.Find(prefix) is null)
            {
                return TopicChange.None;
            }

            Leave(by == TopicAudience.Peers ? _byPeers : _byServer, own, subscriber, prefix);
            counters.Subscribed(-1);
            return TopicChange.Made;
        }
    }

    void ISessionHolder.Release(Session session)
    {
        if (EndNeedsMore(session))
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        // Other threads can take the gate between two work items.
        if (ReleaseSome())
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>
    /// Unsubscribes an ended session. True if <see cref="ReleaseSome"/> must be called, because it is not being called yet.
    /// </summary>
    internal bool EndNeedsMore(Session session)
    {
        lock (_gate)
        {
            if (!_subscribers.Remove(session, out Subscriber? ended))
            {
                return false;
            }

            if (ended.Count <= ReleasedAtOnce)
            {
                Release(ended);
                return false;
            }

            _ended.Enqueue(ended);
            return _ended.Count == 1;
        }
    }

    /// <summary>Releases some subscriptions of ended sessions; true if more are left.</summary>
    internal bool ReleaseSome()
    {
        lock (_gate)
        {
            if (Release(_ended.Peek()))
            {
                _ended.Dequeue();
            }

            return _ended.Count != 0;
        }
    }

    // True if no subscription is left.
    private bool Release(Subscriber ended)
    {
        int before = ended.Count;
        while (ended.Count != 0 && before - ended.Count < ReleasedAtOnce)
        {
            if (ended.OfPeer.First() is { } prefix)
            {
                Leave(_byPeers, ended.OfPeer, ended, prefix);
            }
            else
            {
                Leave(_byServer, ended.OfServer!, ended, ended.OfServer!.First()!);
            }
        }

        counters.Subscribed(ended.Count - before);
        if (ended.Count != 0)
        {
            return false;
        }

        _freeNumbers.Push(ended.Number);
        return true;
    }

    private bool TryGetSubscriber(Session session, [NotNullWhen(true)] out Subscriber? subscriber)
    {
        if (_subscribers.TryGetValue(session, out subscriber))
        {
            return true;
        }

        if (!session.Holders.TryAdd(this))
        {
            return false;
        }

        // A peer may make its maximum number of subscriptions at once, for example after a reconnect.
        int number = _freeNumbers.TryPop(out int free) ? free : _numbers++;
        subscriber = new Subscriber(session, number, Math.Max(options.MaxTopicsPerSession, options.MaxTopicChangesPerSecond), Now(session));
        _subscribers.Add(session, subscriber);
        return true;
    }

    private bool MayChange(Subscriber subscriber) => subscriber.TryChange(options.MaxTopicChangesPerSecond, Now(subscriber.Session));

    private static PrefixTrie<string> Shared(IEnumerable<string> prefixes)
    {
        var shared = new PrefixTrie<string>();
        foreach (string prefix in prefixes)
        {
            shared.Set(Encoding.UTF8.GetBytes(prefix), prefix);
        }

        return shared;
    }

    private static long Now(Session session) => session.Protocol.Settings.Clock.NowMilliseconds;

    private static bool IsTooDeep(PrefixTrie<byte[]> own, ReadOnlySpan<byte> prefix)
    {
        int depth = 1;
        PrefixTrie<byte[]>.Matches above = own.Match(prefix);
        while (above.MoveNext())
        {
            depth++;
        }

        return depth > MaxNested || depth + own.DepthBelow(prefix, out _) > MaxNested;
    }

    private void Join(PrefixTrie<MemberSet<Subscriber>> all, Subscriber subscriber, ReadOnlySpan<byte> prefix)
    {
        MemberSet<Subscriber>? set = all.Find(prefix);
        if (set is null)
        {
            // Filled before it is published.
            set = new MemberSet<Subscriber>();
            set.Add(subscriber);
            all.Set(prefix, set);
            if (interests is not null && IsOnlyIn(all, prefix))
            {
                interests.Wanted(prefix);
            }
        }
        else
        {
            set.Add(subscriber);
        }
    }

    private void Leave(
        PrefixTrie<MemberSet<Subscriber>> all, PrefixTrie<byte[]> own, Subscriber subscriber, ReadOnlySpan<byte> prefix)
    {
        own.Remove(prefix);
        subscriber.Count--;
        MemberSet<Subscriber> set = all.Find(prefix)!;
        set.Remove(subscriber);
        if (set.Count == 0)
        {
            all.Remove(prefix);
            if (interests is not null && IsOnlyIn(all, prefix))
            {
                interests.Unwanted(prefix);
            }
        }
    }

    // Whether the other side has no subscription to the prefix.
    private bool IsOnlyIn(PrefixTrie<MemberSet<Subscriber>> side, ReadOnlySpan<byte> prefix) =>
        (side == _byPeers ? _byServer : _byPeers).Find(prefix) is null;

    /// <summary>Enumerates the subscribers of each prefix: those of peers' subscriptions first.</summary>
    internal ref struct Matches(PrefixTrie<MemberSet<Subscriber>>.Matches byPeers, PrefixTrie<MemberSet<Subscriber>>.Matches byServer)
    {
        private PrefixTrie<MemberSet<Subscriber>>.Matches _byPeers = byPeers;
        private PrefixTrie<MemberSet<Subscriber>>.Matches _byServer = byServer;

        public MemberSet<Subscriber> Current { get; private set; } = null!;

        /// <summary>Whether the peers themselves have made these subscriptions.</summary>
        public bool IsByPeers { get; private set; }

        public bool MoveNext()
        {
            if (_byPeers.MoveNext())
            {
                Current = _byPeers.Current;
                IsByPeers = true;
                return true;
            }

            if (_byServer.MoveNext())
            {
                Current = _byServer.Current;
                IsByPeers = false;
                return true;
            }

            return false;
        }
    }
}
