using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Routing;

/// <summary>What became of a subscription.</summary>
internal enum SubscribeResult
{
    /// <summary>The session is subscribed, now or already.</summary>
    Subscribed,

    /// <summary>It has as many topics as it may have.</summary>
    TooMany,

    /// <summary>It has ended.</summary>
    Closed,
}

/// <summary>
/// Who is subscribed to which prefix. <see cref="_gate"/> makes changes one after the other; publishing reads without a lock. A session that ends is
/// unsubscribed from everything.
/// </summary>
internal sealed class TopicIndex(int maxTopicsPerSession, ServerCounters counters) : ISessionHolder
{
    private readonly Lock _gate = new();
    private readonly PrefixTrie<MemberSet<Session>> _subscribers = new();
    private readonly Dictionary<Session, HashSet<byte[]>> _topics = [];

    /// <summary>The sessions subscribed to each prefix of a topic.</summary>
    public PrefixTrie<MemberSet<Session>>.Matches Match(ReadOnlySpan<byte> topic) => _subscribers.Match(topic);

    public SubscribeResult Subscribe(Session session, ReadOnlySpan<byte> prefix)
    {
        lock (_gate)
        {
            if (!_topics.TryGetValue(session, out HashSet<byte[]>? topics))
            {
                if (!session.Holders.TryAdd(this))
                {
                    return SubscribeResult.Closed;
                }

                _topics[session] = topics = new HashSet<byte[]>(Utf8Comparer.Instance);
            }

            HashSet<byte[]>.AlternateLookup<ReadOnlySpan<byte>> bySpan = topics.GetAlternateLookup<ReadOnlySpan<byte>>();
            if (bySpan.Contains(prefix))
            {
                return SubscribeResult.Subscribed;
            }

            if (topics.Count >= maxTopicsPerSession)
            {
                return SubscribeResult.TooMany;
            }

            bySpan.Add(prefix);
            Join(session, prefix);
            counters.Subscribed(1);
            return SubscribeResult.Subscribed;
        }
    }

    /// <summary>False where the session was not subscribed.</summary>
    public bool Unsubscribe(Session session, ReadOnlySpan<byte> prefix)
    {
        lock (_gate)
        {
            if (!_topics.TryGetValue(session, out HashSet<byte[]>? topics)
                || !topics.GetAlternateLookup<ReadOnlySpan<byte>>().Remove(prefix))
            {
                return false;
            }

            if (topics.Count == 0)
            {
                _topics.Remove(session);
                session.Holders.Remove(this);
            }

            Leave(session, prefix);
            counters.Subscribed(-1);
            return true;
        }
    }

    void ISessionHolder.Release(Session session)
    {
        lock (_gate)
        {
            if (_topics.Remove(session, out HashSet<byte[]>? topics))
            {
                foreach (byte[] prefix in topics)
                {
                    Leave(session, prefix);
                }

                counters.Subscribed(-topics.Count);
            }
        }
    }

    private void Join(Session session, ReadOnlySpan<byte> prefix)
    {
        MemberSet<Session>? set = _subscribers.Find(prefix);
        if (set is null)
        {
            // Filled before it can be found.
            set = new MemberSet<Session>();
            set.Add(session);
            _subscribers.Set(prefix, set);
        }
        else
        {
            set.Add(session);
        }
    }

    private void Leave(Session session, ReadOnlySpan<byte> prefix)
    {
        MemberSet<Session> set = _subscribers.Find(prefix)!;
        set.Remove(session);
        if (set.Count == 0)
        {
            _subscribers.Remove(prefix);
        }
    }
}
