using System.Runtime.InteropServices;

namespace FastPort.Tags;

/// <content>The feed of the source's changes, and its reports.</content>
public sealed partial class TagPublication
{
    /// <summary>Begins to receive the source's changes, including those of new tags.</summary>
    internal async Task FeedAsync(CancellationToken cancellationToken)
    {
        await _feeding.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (_feed is null && !IsEnded)
            {
                ITagFeed opened = await _source.OpenFeedAsync(_interval, _listener, cancellationToken).ConfigureAwait(false);
                _feed = opened;
                if (opened.Ended is { } end)
                {
                    _ = ReplaceAsync(opened, end);
                }
            }

            if (IsEnded || _feed is not { } feed)
            {
                // It was closed while it was being opened.
                await CloseFeedAsync().ConfigureAwait(false);
                return;
            }

            int[] tags;
            Session? session;
            lock (_gate)
            {
                session = _pushes.Session;
                tags = [.. _places.Keys.Where(tag => !_fed.TryGetValue(tag, out TagStatus status) || status.IsBad)];
            }

            if (tags.Length != 0)
            {
                var statuses = new TagStatus[tags.Length];
                await feed.AddAsync(tags, statuses, cancellationToken).ConfigureAwait(false);
                OnFed(tags, statuses, session);
            }
        }
        finally
        {
            _feeding.Release();
        }
    }

    // Regardless of the source, the server is notified and the client closes its connection.
    private async Task CloseFeedAsync()
    {
        if (Interlocked.Exchange(ref _feed, null) is { } feed)
        {
            await CloseAsync(feed).WaitAsync(_client.RequestTimeoutForWait).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        static async Task CloseAsync(ITagFeed feed) => await feed.DisposeAsync().ConfigureAwait(false);
    }

    // When the feed has ended on its own: its tags have the reason instead of outdated values, until another feed has them. The other feed
    // is opened after a delay, because it may also end at once; without a session, on the next session.
    private async Task ReplaceAsync(ITagFeed ended, Task<TagStatus> end)
    {
        TagStatus reason;
        try
        {
            reason = await end.ConfigureAwait(false);
            reason = reason.IsBad ? reason : TagStatus.BadNoCommunication;
        }
        catch (Exception)
        {
            reason = TagStatus.BadInternalError;
        }

        await _feeding.WaitAsync().ConfigureAwait(false);
        try
        {
            if (Interlocked.CompareExchange(ref _feed, null, ended) != ended)
            {
                // It was closed.
                return;
            }

            lock (_gate)
            {
                foreach (int tag in _fed.Keys)
                {
                    _fed[tag] = reason;
                }

                _pushes.CatchUp(_placesByHandle.Values);
            }
        }
        finally
        {
            _feeding.Release();
        }

        await Task.Delay(TagClient.RetryDelay, _closing.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        DeclareAgain();
        try
        {
            // Last: the call may never return if its device is gone.
            await ended.DisposeAsync().ConfigureAwait(false);
        }
        catch (Exception)
        {
            // It reports nothing any more in any case.
        }
    }

    // A tag that the feed has refused is not reported: it has the refusal's status instead of an outdated value. A session that has begun
    // since the feed was asked has missed the feed's reports since then: all values are sent to it.
    private void OnFed(int[] tags, TagStatus[] statuses, Session? session)
    {
        lock (_gate)
        {
            bool isOther = _pushes.Session != session;
            int[] changed = [.. tags.Where((tag, i) => isOther || _fed.GetValueOrDefault(tag) != statuses[i])];
            for (int i = 0; i < tags.Length; i++)
            {
                _fed[tags[i]] = statuses[i];
            }

            _pushes.CatchUp(Declared(changed));
        }
    }

    private void OnConnectionChanged()
    {
        OnValuesLost();
        if (_source.IsConnected)
        {
            DeclareAgain();
        }
    }

    private void OnValuesLost()
    {
        lock (_gate)
        {
            _pushes.CatchUp(_placesByHandle.Values);
        }
    }

    // Asks the feed for tags that it does not have, if there is a session.
    private void DeclareAgain()
    {
        Session? session;
        lock (_gate)
        {
            session = _pushes.Session;
        }

        if (session is not null)
        {
            _client.DeclareAgain(this, session);
        }
    }

    private void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
    {
        lock (_gate)
        {
            if (IsEnded)
            {
                return;
            }

            List<int> places = new(tags.Length);
            var known = new TagSamples();
            for (int i = 0; i < tags.Length; i++)
            {
                if (_places.TryGetValue(tags[i], out int place) && _pushes.IsDeclared(place))
                {
                    places.Add(place);
                    known.Add(samples, i);
                }
            }

            if (_source.IsConnected)
            {
                _pushes.Push(CollectionsMarshal.AsSpan(places), known);
            }
            else
            {
                // The feed's reports while the device is disconnected, such as of lost changes, are not current values.
                _pushes.CatchUp(places);
            }
        }
    }

    private sealed class Listener(TagPublication publication) : ITagFeedListener
    {
        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples) => publication.OnChanges(tags, samples);

        public void OnValuesLost() => publication.OnValuesLost();
    }
}
