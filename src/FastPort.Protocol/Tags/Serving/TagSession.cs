namespace FastPort.Protocol.Tags.Serving;

/// <summary>
/// What the server keeps of a session: which handles it has resolved, its subscriptions, and the rest of its last Browse.
/// </summary>
/// <param name="permissions">What the session may do with its handles; null for everything.</param>
internal sealed class TagSession(TagPermissions? permissions)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, ServedSubscription> _subscriptions = [];

    private readonly HandleSet _resolved = new();
    private uint _lastSubscription;
    private int _subscribed;
    private int _browse;

    /// <summary>Nodes that the last Browse has left, with the number that its cursor has.</summary>
    public (int Cursor, IReadOnlyList<TagBrowseNode> Nodes)? Rest { get; private set; }

    public bool IsEnded { get; private set; }

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
