using FastPort.Routing;

namespace FastPort.Redis.Topics;

/// <summary>
/// The prefixes that sessions of this node are subscribed to, and the feeds that send them to the other nodes. <see cref="Gate"/> guards
/// them and the feeds' states. The server calls under its own lock; under the gate only links are called, so the order of the locks is: the
/// server's topics, this gate, a link.
/// </summary>
internal sealed class OwnInterests : ITopicInterests
{
    private readonly HashSet<byte[]> _prefixes = new(Utf8Comparer.Instance);
    private readonly Dictionary<ulong, InterestFeed> _feeds = [];

    public Lock Gate { get; } = new();

    /// <summary>Number of prefixes.</summary>
    public int Count
    {
        get
        {
            lock (Gate)
            {
                return _prefixes.Count;
            }
        }
    }

    public void Wanted(ReadOnlySpan<byte> prefix)
    {
        byte[] copy = prefix.ToArray();
        lock (Gate)
        {
            _prefixes.Add(copy);
            Changed(copy);
        }
    }

    public void Unwanted(ReadOnlySpan<byte> prefix)
    {
        byte[] copy = prefix.ToArray();
        lock (Gate)
        {
            _prefixes.Remove(copy);
            Changed(copy);
        }
    }

    /// <summary>Whether a session of this node wants a prefix. Under the gate, as the next one.</summary>
    public bool Has(byte[] prefix) => _prefixes.Contains(prefix);

    /// <summary>All current prefixes.</summary>
    public byte[][] ToArray() => [.. _prefixes];

    /// <summary>The feed to a node.</summary>
    /// <param name="instance">The node.</param>
    /// <param name="create">
    /// Creates the feed, or returns null if the node is not a member or cannot read this node's batches. Called under the lock, so that no
    /// feed stays to a node that has left in the meantime.
    /// </param>
    public InterestFeed? FeedTo(ulong instance, Func<ulong, InterestFeed?> create)
    {
        lock (Gate)
        {
            if (!_feeds.TryGetValue(instance, out InterestFeed? feed) && create(instance) is { } created)
            {
                feed = created;
                _feeds.Add(instance, feed);
            }

            return feed;
        }
    }

    /// <summary>A node has left.</summary>
    public void EndFeed(ulong instance)
    {
        lock (Gate)
        {
            if (_feeds.Remove(instance, out InterestFeed? feed))
            {
                feed.End();
            }
        }
    }

    /// <summary>This node has left the others.</summary>
    public void EndFeeds()
    {
        lock (Gate)
        {
            foreach (InterestFeed feed in _feeds.Values)
            {
                feed.End();
            }

            _feeds.Clear();
        }
    }

    /// <summary>The feeds to all other nodes.</summary>
    public InterestFeed[] Feeds()
    {
        lock (Gate)
        {
            return [.. _feeds.Values];
        }
    }

    private void Changed(byte[] prefix)
    {
        foreach (InterestFeed feed in _feeds.Values)
        {
            feed.Changed(prefix);
        }
    }
}
