namespace FastPort.Tags.Serving;

/// <summary>
/// The feeds of a source, shared by all subscriptions: one for each step of intervals, so that clients cannot open any number.
/// </summary>
internal sealed class SourceFeeds(ServedSource source)
{
    // In a decade of milliseconds.
    private static readonly int[] Steps = [5, 2, 1];

    // Under the source's gate.
    private readonly Dictionary<TimeSpan, SourceFeed> _feeds = [];
    private bool _isClosed;

    /// <summary>
    /// Adds items of a subscription: to the feed of their tag's own interval, or else of the subscription's. Sets the status of each.
    /// </summary>
    public async ValueTask AddAsync(TimeSpan interval, IEnumerable<SubscriptionItem> items, CancellationToken cancellationToken)
    {
        foreach (IGrouping<TimeSpan, SubscriptionItem> group in items.GroupBy(item => item.Tag.Info.Interval ?? StepOf(interval)))
        {
            await Of(group.Key).AddAsync([.. group], cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>The longest of 1, 2, 5, 10, 20, 50 ms and so on that is not longer than an interval.</summary>
    public static TimeSpan StepOf(TimeSpan interval)
    {
        long decade = 1;
        while (decade * 10 <= interval.TotalMilliseconds)
        {
            decade *= 10;
        }

        long step = Array.Find(Steps, candidate => candidate * decade <= interval.TotalMilliseconds);
        return TimeSpan.FromMilliseconds(Math.Max(step, 1) * decade);
    }

    /// <summary>Feeds tags that have their own interval.</summary>
    public async Task KeepAsync(IEnumerable<ServedTag> tags)
    {
        foreach (IGrouping<TimeSpan, ServedTag> group in tags.GroupBy(static tag => tag.Info.Interval!.Value))
        {
            await Of(group.Key).KeepAsync(group).ConfigureAwait(false);
        }
    }

    /// <summary>Removes items of any sources. No feed waits for another one.</summary>
    public static Task RemoveAsync(IEnumerable<SubscriptionItem> items) => Task.WhenAll(
        items.GroupBy(static item => item.Member?.Feed).Select(static group => group.Key?.RemoveAsync([.. group]) ?? Task.CompletedTask));

    /// <summary>Notifies all subscribers: values are bad from now on, or are read again.</summary>
    public void OnConnectionChanged(bool isConnected)
    {
        SourceFeed[] feeds;
        lock (source.Gate)
        {
            feeds = [.. _feeds.Values];
        }

        foreach (SourceFeed feed in feeds)
        {
            feed.OnConnectionChanged(isConnected);
        }
    }

    /// <summary>The member of a tag in one of the feeds; null if it is in none. Under the source's gate.</summary>
    public FeedMember? Find(int key)
    {
        foreach (SourceFeed feed in _feeds.Values)
        {
            if (feed.Find(key) is { } member)
            {
                return member;
            }
        }

        return null;
    }

    private SourceFeed Of(TimeSpan interval)
    {
        lock (source.Gate)
        {
            if (!_feeds.TryGetValue(interval, out SourceFeed? feed))
            {
                _feeds.Add(interval, feed = new SourceFeed(source, interval, _isClosed));
            }

            return feed;
        }
    }

    public async Task CloseAsync()
    {
        SourceFeed[] feeds;
        lock (source.Gate)
        {
            // Requests in progress, and tags that are to be fed, come later.
            _isClosed = true;
            feeds = [.. _feeds.Values];
            _feeds.Clear();
        }

        await Task.WhenAll(feeds.Select(static feed => feed.CloseAsync().AsTask())).ConfigureAwait(false);
    }
}
