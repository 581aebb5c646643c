namespace FastPort.Tags.Serving;

/// <summary>The server's state of a session: the handles that it has resolved, and its subscriptions.</summary>
/// <param name="permissions">What the session may do with its handles; null for everything.</param>
internal sealed class TagSession(TagPermissions? permissions)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, ServedSubscription> _subscriptions = [];
    private readonly HandleSet _resolved = new();
    private uint _lastSubscription;
    private int _subscribed;
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

    /// <summary>
    /// Gives a subscription its items, so that each review from now on finds them. False if there was a review after their rights were
    /// checked: they are checked again.
    /// </summary>
    /// <param name="subscription">A subscription of the session.</param>
    /// <param name="items">Its items.</param>
    /// <param name="reviews">The number of reviews before their rights were checked.</param>
    public bool TrySetItems(ServedSubscription subscription, SubscriptionItem[] items, int reviews)
    {
        if (permissions is not null)
        {
            return permissions.TrySetItems(subscription, items, reviews);
        }

        subscription.Items = items;
        return true;
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

    /// <summary>The session is over. Returns its subscriptions.</summary>
    public IReadOnlyList<ServedSubscription> End()
    {
        lock (_gate)
        {
            _isEnded = true;
            ServedSubscription[] ended = [.. _subscriptions.Values];
            _subscriptions.Clear();
            return ended;
        }
    }
}
