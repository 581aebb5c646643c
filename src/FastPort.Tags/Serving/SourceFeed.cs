namespace FastPort.Tags.Serving;

/// <summary>
/// A feed of one source with one interval, shared by all subscriptions. Tags are in it while they have subscribers. Changes of its tags are
/// made one after the other; its reports may come at the same time.
/// </summary>
internal sealed partial class SourceFeed(ServedSource source, TimeSpan interval, bool isClosed) : ITagFeedListener
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan MaxRetryDelay = TimeSpan.FromSeconds(30);

    private readonly SemaphoreSlim _changing = new(1);

    // By key, under the source's gate.
    private readonly Dictionary<int, FeedMember> _members = [];

    // Set by the thread that changes the tags, and cleared by the thread that closes the feed. Written under the source's gate.
    private ITagFeed? _feed;
    private bool _isClosed = isClosed;

    // Tags without subscribers that the feed may still have: the source was disconnected, or did not answer. Changed by one at a time.
    private readonly HashSet<int> _unremoved = [];

    // The timer after which tags that could not be added are tried again, whether it runs, and its last time. Under the source's gate.
    private ITimer? _retry;
    private bool _isRetrying;
    private TimeSpan _retryDelay;

    // Whether changes may have been lost since the last read of all values began, and whether one is in progress. Under the source's gate.
    private bool _isLost;
    private bool _isReadingLost;

    // Whether tags whose read has failed are read again soon. Under the source's gate.
    private bool _isReadingAgain;

    /// <summary>When the feed last reported, if that confirms values. Under the source's gate.</summary>
    public long ConfirmedAt { get; private set; } = long.MinValue;

    /// <summary>The member of a tag; null if it is not in the feed. Under the source's gate.</summary>
    public FeedMember? Find(int key) => _members.GetValueOrDefault(key);

    /// <summary>Feeds tags from now on, with or without subscribers.</summary>
    public async Task KeepAsync(IEnumerable<ServedTag> tags)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            List<FeedMember> added = [];
            lock (source.Gate)
            {
                foreach (ServedTag tag in tags)
                {
                    Join(tag, added).IsPermanent = true;
                }
            }

            if (added.Count != 0)
            {
                await AddToSourceAsync(added).ConfigureAwait(false);
            }
        }
        finally
        {
            _changing.Release();
        }
    }

    public async ValueTask AddAsync(IReadOnlyList<SubscriptionItem> items, CancellationToken cancellationToken)
    {
        await _changing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            List<FeedMember> added = [];
            lock (source.Gate)
            {
                // An item that a review has ended in the meantime gets nothing.
                foreach (SubscriptionItem item in items.Where(static item => !item.IsEnded))
                {
                    int before = added.Count;
                    FeedMember member = Join(item.Tag, added);
                    member.Items.Add(item);
                    item.Member = member;
                    item.Status = member.Status;
                    if (member is { IsAdded: false, MustRetry: true })
                    {
                        // New subscribers do not wait as long as earlier ones.
                        RetryLater(isAgain: false);
                    }

                    // The source reports the current value of a tag that is new to the feed; it may not have arrived yet.
                    if ((added.Count == before && item.Tag.IsKnown) || !source.IsConnected)
                    {
                        item.Subscription.AddPresent(item);
                    }
                }
            }

            if (added.Count != 0)
            {
                await AddToSourceAsync(added).ConfigureAwait(false);
            }
        }
        finally
        {
            _changing.Release();
        }
    }

    public async Task RemoveAsync(IReadOnlyList<SubscriptionItem> items)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            List<int> removed = [];
            lock (source.Gate)
            {
                foreach (SubscriptionItem item in items)
                {
                    FeedMember? member = item.Member;
                    item.Member = null;
                    if (member is not null && member.Items.Remove(item) && member.Items.Count == 0 && !member.IsPermanent)
                    {
                        Forget(member);
                        removed.Add(member.Tag.Key);
                    }
                }
            }

            if (removed.Count != 0 && _feed is not null)
            {
                _unremoved.UnionWith(removed);
                await RemoveFromSourceAsync().ConfigureAwait(false);
                await CloseIfEmptyAsync().ConfigureAwait(false);
            }
        }
        finally
        {
            _changing.Release();
        }
    }

    public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples) => OnChanges(tags, samples, TimeSpan.Zero);

    public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples, TimeSpan age)
    {
        long confirmed = source.Now - UnitsOf(age);
        HashSet<ServedSubscription>? touched = null;
        HashSet<SubscriptionItem>? away = null;
        lock (source.Gate)
        {
            ConfirmedAt = _feed?.ConfirmsValues == true ? confirmed : ConfirmedAt;
            for (int i = 0; i < tags.Length; i++)
            {
                if (!_members.TryGetValue(tags[i], out FeedMember? member))
                {
                    continue;
                }

                member.IsReported = true;
                member.Tag.Keep(samples, i, confirmed, this);
                TagSample sample = member.Items.Count == 0 ? default : samples[i];
                foreach (SubscriptionItem item in member.Items)
                {
                    item.Subscription.Add(item, sample);
                    (touched ??= []).Add(item.Subscription);
                    if (!source.IsConnected)
                    {
                        (away ??= []).Add(item);
                    }
                }
            }

            // The feed's reports while the source counts as disconnected, such as of lost changes, are not final.
            foreach (SubscriptionItem item in away ?? [])
            {
                item.Subscription.AddPresent(item);
            }
        }

        Flush(touched);
    }

    public void OnConnectionChanged(bool isConnected)
    {
        _ = ReadAllAsync(isConnected, areReported: isConnected);
        if (isConnected)
        {
            _ = AddLateAsync(isAgain: false);
        }
    }

    public void OnValuesLost()
    {
        lock (source.Gate)
        {
            foreach (FeedMember member in _members.Values)
            {
                member.IsReported = false;
                if (member is { IsAdded: false, MustRetry: true }
                    && member.Status != TagStatus.BadNoCommunication
                    && member.Status != TagStatus.BadNodeIdUnknown)
                {
                    // The whole call that adds it has failed, not this tag alone. The source works again, so the next call may succeed.
                    RetryLater(isAgain: false);
                }
            }

            _isLost = true;
            if (_isReadingLost)
            {
                return;
            }

            _isReadingLost = true;
        }

        _ = ReadLostAsync();
    }

    public void OnTagsAppeared() => _ = AddLateAsync(isAgain: false);

    /// <summary>
    /// Closes the feed permanently. Does not wait for a change of its tags: a feed that the change opens is closed by it.
    /// </summary>
    public ValueTask CloseAsync()
    {
        lock (source.Gate)
        {
            _isClosed = true;
            _retry?.Dispose();
        }

        return CloseFeedAsync();
    }

    private async ValueTask CloseFeedAsync()
    {
        ITagFeed? feed;
        lock (source.Gate)
        {
            (feed, _feed) = (_feed, null);
        }

        if (feed is not null)
        {
            await source.CloseAsync(feed).ConfigureAwait(false);
        }
    }

    private static void Flush(IEnumerable<ServedSubscription>? subscriptions)
    {
        foreach (ServedSubscription subscription in subscriptions ?? [])
        {
            subscription.Flush();
        }
    }

    // The next tag opens it again.
    private async ValueTask CloseIfEmptyAsync()
    {
        bool isEmpty;
        lock (source.Gate)
        {
            isEmpty = _members.Count == 0;
        }

        if (isEmpty)
        {
            await CloseFeedAsync().ConfigureAwait(false);
        }
    }

    // Removes the tags without subscribers. Tags for which the source does not answer are removed with the next change, or when it has
    // reconnected.
    private async ValueTask RemoveFromSourceAsync()
    {
        if (_feed is not { } feed)
        {
            _unremoved.Clear();
        }
        else if (_unremoved.Count != 0)
        {
            int[] removed = [.. _unremoved];
            (TagStatus status, _) = await source.CallAsync(
                async token =>
                {
                    await feed.RemoveAsync(removed, token).ConfigureAwait(false);
                    return TagStatus.Good;
                },
                "Unsubscribe").ConfigureAwait(false);
            if (status.IsGood)
            {
                _unremoved.Clear();
            }
        }
    }

    private ValueTask<ITagFeed> OpenAsync(CancellationToken cancellationToken) =>
        source.Source.OpenFeedAsync(interval, this, cancellationToken);

    // Again: those that have stayed refused since the last time, with nothing new of them.
    private async ValueTask AddToSourceAsync(List<FeedMember> added, bool isAgain = false)
    {
        await RemoveFromSourceAsync().ConfigureAwait(false);
        var statuses = new TagStatus[added.Count];
        var ages = new TimeSpan[added.Count];
        (TagStatus status, _) = await source.CallAsync(
            async token =>
            {
                if (_feed is not { } feed)
                {
                    if (_isClosed)
                    {
                        return TagStatus.BadShutdown;
                    }

                    // All requests share the feed: it must not keep the context of the first request.
                    feed = await NoContext.Call(
                        static one => one.Feed.OpenAsync(one.Token), (Feed: this, Token: token)).ConfigureAwait(false);
                    bool isWanted;
                    lock (source.Gate)
                    {
                        // If this call was abandoned, another feed may have been opened in the meantime.
                        isWanted = !_isClosed && !token.IsCancellationRequested;
                        _feed = isWanted ? feed : _feed;
                    }

                    if (!isWanted)
                    {
                        await feed.DisposeAsync().ConfigureAwait(false);
                        return TagStatus.BadTimeout;
                    }

                    if (feed.Ended is { } end)
                    {
                        _ = ReplaceAsync(feed, end);
                    }
                }

                await feed.AddAsync([.. added.Select(static member => member.Tag.Key)], statuses, token).ConfigureAwait(false);
                for (int i = 0; i < ages.Length; i++)
                {
                    ages[i] = feed.AgeOf(added[i].Tag.Key);
                }

                return TagStatus.Good;
            },
            "Subscribe").ConfigureAwait(false);
        bool isConnected = source.Source.IsConnected;
        lock (source.Gate)
        {
            foreach ((int i, FeedMember member) in added.Index())
            {
                // A refused tag stays wanted: the source may have it after a reconnect. Its absence is reported as a sample. A single tag
                // is absent with its device, or does not exist yet, and no event reports when it does.
                TagStatus reached = status.IsGood ? statuses[i] : status;
                bool isAway = reached == TagStatus.BadNoCommunication;
                member.MustRetry = status.IsBad || isAway || reached == TagStatus.BadNodeIdUnknown;
                member.IsAdded = !reached.IsBad;
                member.Age = UnitsOf(ages[i]);
                if (member.IsAdded)
                {
                    _unremoved.Remove(member.Tag.Key);
                }

                member.Status = reached.IsBad && (isConnected || !isAway) ? reached : TagStatus.Good;
                member.Items.FindAll(static item => !item.IsEnded).ForEach(item => item.Status = member.Status);
            }

            if (added.Exists(static member => member.MustRetry))
            {
                RetryLater(isAgain);
            }
        }
    }

    private long UnitsOf(TimeSpan age) => (long)Math.Ceiling(age.TotalSeconds * source.Time.TimestampFrequency);

    private FeedMember Join(ServedTag tag, List<FeedMember> added)
    {
        if (!_members.TryGetValue(tag.Key, out FeedMember? member))
        {
            _members.Add(tag.Key, member = new FeedMember(this, tag));
            tag.Fed ??= member;
            added.Add(member);
        }

        return member;
    }

    private void Forget(FeedMember member)
    {
        _members.Remove(member.Tag.Key);
        if (member.Tag.Fed == member)
        {
            member.Tag.Fed = source.Feeds.Find(member.Tag.Key);
        }
    }
}
