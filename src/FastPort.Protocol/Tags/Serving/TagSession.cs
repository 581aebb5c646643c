namespace FastPort.Protocol.Tags.Serving;

/// <summary>
/// What the server keeps of a session: which handles it has resolved, its subscriptions, and the rest of its last Browse.
/// </summary>
internal sealed class TagSession
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, ServedSubscription> _subscriptions = [];

    // Bit i: handle i was resolved. Replaced when it grows; readers see the one before or the one after.
    private ulong[] _resolved = [];
    private uint _lastSubscription;
    private int _subscribed;
    private int _browse;

    /// <summary>Nodes that the last Browse has left, with the number that its cursor has.</summary>
    public (int Cursor, IReadOnlyList<TagBrowseNode> Nodes)? Rest { get; private set; }

    public bool IsEnded { get; private set; }

    public bool HasResolved(uint handle)
    {
        ulong[] resolved = Volatile.Read(ref _resolved);
        uint word = handle / 64;
        return word < resolved.Length && (resolved[word] & (1UL << (int)(handle % 64))) != 0;
    }

    public void Resolve(uint handle)
    {
        lock (_gate)
        {
            uint word = handle / 64;
            if (word >= _resolved.Length)
            {
                ulong[] grown = _resolved;
                Array.Resize(ref grown, (int)Math.Max(word + 1, 2 * (uint)_resolved.Length));
                Volatile.Write(ref _resolved, grown);
            }

            _resolved[word] |= 1UL << (int)(handle % 64);
        }
    }

    public ServedSubscription? Find(uint subscription)
    {
        lock (_gate)
        {
            return _subscriptions.GetValueOrDefault(subscription);
        }
    }

    /// <summary>Adds a subscription for a number of tags; null if there are too many.</summary>
    public ServedSubscription? Add(Func<uint, ServedSubscription> create, int tags, TagServerOptions options)
    {
        lock (_gate)
        {
            if (IsEnded || _subscriptions.Count >= options.MaxSubscriptionsPerSession
                || tags > options.MaxSubscribedTagsPerSession - _subscribed)
            {
                return null;
            }

            ServedSubscription subscription = create(++_lastSubscription);
            _subscriptions.Add(subscription.Id, subscription);
            _subscribed += tags;
            return subscription;
        }
    }

    /// <summary>Removes a subscription; null if there is none of this number.</summary>
    public ServedSubscription? Remove(uint subscription)
    {
        lock (_gate)
        {
            if (!_subscriptions.Remove(subscription, out ServedSubscription? removed))
            {
                return null;
            }

            _subscribed -= removed.Tags;
            return removed;
        }
    }

    /// <summary>Keeps what a Browse has left for the next one. Returns its cursor.</summary>
    public int Keep(IReadOnlyList<TagBrowseNode> nodes)
    {
        lock (_gate)
        {
            Rest = nodes.Count == 0 ? null : (++_browse, nodes);
            return _browse;
        }
    }

    /// <summary>The session is over. Returns its subscriptions.</summary>
    public IReadOnlyList<ServedSubscription> End()
    {
        lock (_gate)
        {
            IsEnded = true;
            ServedSubscription[] ended = [.. _subscriptions.Values];
            _subscriptions.Clear();
            return ended;
        }
    }
}
