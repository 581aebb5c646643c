namespace FastPort.Tags.Serving;

/// <content>
/// Automatic recovery of the feed: after the source was disconnected, changes were lost, tags were refused, or the source's feed has ended.
/// </content>
internal sealed partial class SourceFeed
{
    // One read at a time, no matter how often the feed reports that changes may have been lost.
    private async Task ReadLostAsync()
    {
        while (true)
        {
            lock (source.Gate)
            {
                // Without a connection they are read when the source is connected again.
                _isReadingLost = _isLost && source.IsConnected;
                _isLost = false;
                if (!_isReadingLost)
                {
                    return;
                }
            }

            await ReadAllAsync(isConnected: true, areReported: false).ConfigureAwait(false);
        }
    }

    // A value that has not changed while the source was disconnected is not reported by the feed: all values are read and reported.
    private Task ReadAllAsync(bool isConnected, bool areReported)
    {
        List<FeedMember> members;
        lock (source.Gate)
        {
            members = [.. _members.Values];
            members.ForEach(member => member.IsReported &= areReported);
        }

        return TellAsync(members, mustRead: isConnected);
    }

    // Under the source's gate. Those that stay refused wait twice as long each time: asking is expensive, especially for many tags.
    private void RetryLater(bool isAgain)
    {
        if (_isClosed || (!isAgain && _isRetrying && _retryDelay == RetryDelay))
        {
            return;
        }

        TimeSpan longer = 2 * _retryDelay;
        _retryDelay = !isAgain ? RetryDelay : longer < MaxRetryDelay ? longer : MaxRetryDelay;
        _isRetrying = true;
        _retry ??= NoContext.CreateTimer(
            source.Time,
            static feed => _ = ((SourceFeed)feed!).AddLateAsync(isAgain: true),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan);
        _retry.Change(_retryDelay, Timeout.InfiniteTimeSpan);
    }

    // Tags that were subscribed to while the source was disconnected, did not have them, or did not answer. On a retry: tags whose refusal
    // may have passed although the source has stayed connected.
    private async Task AddLateAsync(bool isAgain)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            List<FeedMember> late;
            lock (source.Gate)
            {
                _isRetrying &= !isAgain;
                late = _isClosed ? [] : [.. _members.Values.Where(one => !one.IsAdded && (one.MustRetry || !isAgain))];
            }

            if (late.Count != 0)
            {
                TagStatus[] before = [.. late.Select(static member => member.Status)];
                await AddToSourceAsync(late, isAgain).ConfigureAwait(false);

                // The feed may have reported the values of added tags before it was known that they were added.
                _ = TellAsync(late.Where((member, i) => member.Status.IsBad && member.Status != before[i]), mustRead: false);
                _ = TellAsync(late.Where((member, i) => member.IsAdded && before[i].IsBad), mustRead: true);
            }
            else
            {
                await RemoveFromSourceAsync().ConfigureAwait(false);
            }
        }
        finally
        {
            _changing.Release();
        }
    }

    // Reports the current values of some tags to all subscribers; reads them first if necessary.
    private async Task TellAsync(IEnumerable<FeedMember> told, bool mustRead)
    {
        FeedMember[] members = [.. told];
        long since = mustRead ? source.Now : long.MaxValue;
        if (mustRead)
        {
            ReadBatch[] batches;
            lock (source.Gate)
            {
                batches = [.. members.Select(member => source.Reader.Need(member.Tag, since)).Distinct()];
            }

            source.Reader.Send();
            foreach (ReadBatch batch in batches)
            {
                await batch.Done.ConfigureAwait(false);
            }
        }

        HashSet<ServedSubscription> touched = [];
        lock (source.Gate)
        {
            foreach (FeedMember member in members)
            {
                // The feed reports all later changes of a value that was read.
                member.IsReported |= member.IsAdded && member.Tag.ReadAt >= since;
                member.IsUnread = mustRead ? member is { IsReported: false, Tag.HasFailed: true } : member.IsUnread;
                foreach (SubscriptionItem item in member.Items)
                {
                    item.Subscription.AddPresent(item);
                    touched.Add(item.Subscription);
                }
            }

            if (mustRead && !_isReadingAgain && Array.Exists(members, static member => member.IsUnread))
            {
                _isReadingAgain = true;
                _ = ReadAgainAsync();
            }
        }

        Flush(touched);
    }

    // A value that could not be read has the reason until it can be, or the feed reports it.
    private async Task ReadAgainAsync()
    {
        await Task.Delay(RetryDelay, source.Time).ConfigureAwait(false);
        List<FeedMember> unread;
        lock (source.Gate)
        {
            // Without a connection they are read when the source is connected again.
            _isReadingAgain = false;
            unread = _isClosed || !source.IsConnected ? [] : [.. _members.Values.Where(static one => one.IsUnread && !one.IsReported)];
        }

        if (unread.Count != 0)
        {
            await TellAsync(unread, mustRead: true).ConfigureAwait(false);
        }
    }

    // When the feed has ended on its own: no changes are reported until another feed is open.
    private async Task ReplaceAsync(ITagFeed ended, Task<TagStatus> end)
    {
        TagStatus reason;
        try
        {
            reason = await end.ConfigureAwait(false);
            reason = reason.IsBad ? reason : TagStatus.BadNoCommunication;
        }
        catch (Exception e)
        {
            ServingLog.SourceThrew(source.Logger, e, source.Source.Name, "Feed");
            reason = TagStatus.BadInternalError;
        }

        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            HashSet<ServedSubscription> touched = [];
            lock (source.Gate)
            {
                if (_feed != ended)
                {
                    // It was closed.
                    return;
                }

                _feed = null;
                foreach (FeedMember member in _members.Values)
                {
                    member.IsAdded = false;
                    member.MustRetry = true;
                    member.IsReported = false;

                    // A subscriber that comes before another feed is open gets the reason, too.
                    member.Status = source.IsConnected ? reason : TagStatus.Good;
                    foreach (SubscriptionItem item in member.Items)
                    {
                        item.Status = member.Status;
                        item.Subscription.AddPresent(item);
                        touched.Add(item.Subscription);
                    }
                }

                RetryLater(isAgain: false);
            }

            Flush(touched);
            ServingLog.FeedEnded(source.Logger, source.Source.Name, interval, reason);
            await source.CloseAsync(ended).ConfigureAwait(false);
        }
        finally
        {
            _changing.Release();
        }
    }
}
