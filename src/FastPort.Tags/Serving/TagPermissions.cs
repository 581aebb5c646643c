namespace FastPort.Tags.Serving;

/// <summary>
/// A session's permissions for the handles that it has resolved: the authorizer's answers, kept until they are reviewed. Only where there
/// is an authorizer. Safe from any thread.
/// </summary>
internal sealed class TagPermissions(TagAuthorizer authorizer, Session session)
{
    // Guards all changes. The authorizer is asked outside of it.
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, string> _names = [];
    private readonly HandleSet _readable = new();
    private readonly HandleSet _writable = new();

    // Counts the reviews: an answer that was given before one is not kept after it.
    private int _reviews;

    /// <summary>The number of reviews so far.</summary>
    public int Reviews => Volatile.Read(ref _reviews);

    /// <summary>Keeps the name under which the session has resolved a handle. The first one is kept.</summary>
    public void Name(uint handle, string name)
    {
        lock (_gate)
        {
            _names.TryAdd(handle, name);
        }
    }

    /// <summary>Whether the session may read or write a resolved handle.</summary>
    /// <param name="handle">The handle.</param>
    /// <param name="access">Read or Write.</param>
    /// <param name="isAttempt">Whether it attempts the access now.</param>
    public bool Allow(uint handle, TagAccess access, bool isAttempt = true)
    {
        HandleSet allowed = access == TagAccess.Write ? _writable : _readable;
        if (allowed.Contains(handle))
        {
            return true;
        }

        string name;
        int reviews;
        lock (_gate)
        {
            name = _names[handle];
            reviews = _reviews;
        }

        if (!authorizer(session, access, name, isAttempt))
        {
            return false;
        }

        // The answer to a query is not kept: it might differ for an attempt, which may only be reported.
        if (isAttempt)
        {
            lock (_gate)
            {
                if (_reviews == reviews)
                {
                    allowed.Add(handle);
                }
            }
        }

        return true;
    }

    /// <inheritdoc cref="TagSession.TrySetItems"/>
    public bool TrySetItems(ServedSubscription subscription, SubscriptionItem[] items, int reviews)
    {
        lock (_gate)
        {
            if (_reviews != reviews)
            {
                return false;
            }

            subscription.Items = items;
            return true;
        }
    }

    /// <summary>Forgets all answers.</summary>
    public void Review()
    {
        lock (_gate)
        {
            _reviews++;
            _readable.Clear();
            _writable.Clear();
        }
    }
}
