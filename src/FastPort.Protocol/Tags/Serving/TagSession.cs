namespace FastPort.Protocol.Tags.Serving;

/// <summary>
/// What the server keeps of a session: which handles it has resolved, its subscriptions, and what its last Browses have left.
/// </summary>
/// <param name="permissions">What the session may do with its handles; null for everything.</param>
internal sealed class TagSession(TagPermissions? permissions)
{
    // Lists that a client goes through at the same time.
    private const int MaxRests = 4;

    private readonly Lock _gate = new();
    private readonly Dictionary<uint, ServedSubscription> _subscriptions = [];

    // Oldest first.
    private readonly List<(int Cursor, IReadOnlyList<TagBrowseNode> Nodes)> _rests = new(MaxRests);

    private readonly HandleSet _resolved = new();
    private uint _lastSubscription;
    private int _subscribed;
    private int _lastCursor;
    private bool _isEnded;

    public TagPermissions? Permissions => permissions;

    public bool HasResolved(uint handle) => _resolved.Contains(handle);

    public void Resolve(uint handle, string name)
    {
        permissions?.Name(handle, name);
        lock (_gate)
        {
            _resolved.Add(handle);
        }
    }

    /// <summary>Its subscriptions now.</summary>
    public IReadOnlyList<ServedSubscription> List()
    {
        lock (_gate)
        {
            return [.. _subscriptions.Values];
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
            if (_isEnded || _subscriptions.Count >= options.MaxSubscriptionsPerSession
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

    /// <summary>Keeps what a Browse has left for the next one, in place of the oldest if there are too many. Returns its cursor.</summary>
    public int KeepRest(IReadOnlyList<TagBrowseNode> nodes)
    {
        lock (_gate)
        {
            if (_rests.Count == MaxRests)
            {
                _rests.RemoveAt(0);
            }

            _rests.Add((++_lastCursor, nodes));
            return _lastCursor;
        }
    }

    /// <summary>What the Browse with a cursor has left; null if it is not kept. A cursor is used once.</summary>
    public IReadOnlyList<TagBrowseNode>? TakeRest(int cursor)
    {
        lock (_gate)
        {
            int place = _rests.FindIndex(rest => rest.Cursor == cursor);
            if (place < 0)
            {
                return null;
            }

            IReadOnlyList<TagBrowseNode> nodes = _rests[place].Nodes;
            _rests.RemoveAt(place);
            return nodes;
        }
    }

    /// <summary>The session is over. Returns its subscriptions.</summary>
    public IReadOnlyList<ServedSubscription> End()
    {
        lock (_gate)
        {
            _isEnded = true;
            _rests.Clear();
            ServedSubscription[] ended = [.. _subscriptions.Values];
            _subscriptions.Clear();
            return ended;
        }
    }
}
