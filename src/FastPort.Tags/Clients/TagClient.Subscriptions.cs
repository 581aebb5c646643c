using FastPort.Protocol;
using FastPort.Tags.Messages;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>Subscriptions.</content>
public sealed partial class TagClient
{
    internal static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    /// <summary>Subscribes to tags. The first update contains the current sample of each.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="options">How to report. Defaults to the default values.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>The subscription. Read its updates, or the server stops sending after four of them. Dispose it to end it.</returns>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async ValueTask<TagSubscription> SubscribeAsync(
        TagList tags, TagSubscriptionOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(tags);
        var subscription = new TagSubscription(this, tags, options ?? new TagSubscriptionOptions());
        lock (_gate)
        {
            _subscriptions.Add(subscription);
        }

        // The request continues when the caller gives up: only its reply contains the number by which the subscription is ended.
        Task<Session> subscribing = SubscribeAsync(subscription, _closing.Token);
        try
        {
            Session session = await subscribing.WaitAsync(cancellationToken).ConfigureAwait(false);
            _ = NoContext.Start(() => SubscribeToMissingAsync(subscription, session));
            return subscription;
        }
        catch
        {
            _ = subscribing.ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);
            await subscription.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    async ValueTask<ITagSubscription> ITagClient.SubscribeAsync(
        TagList tags, TagSubscriptionOptions? options, CancellationToken cancellationToken) =>
        await SubscribeAsync(tags, options, cancellationToken).ConfigureAwait(false);

    internal async ValueTask EndAsync(TagSubscription subscription, Session? session, uint id)
    {
        lock (_gate)
        {
            _subscriptions.Remove(subscription);
        }

        if (session is not null && !session.IsClosed)
        {
            await UnsubscribeAsync(session, id).ConfigureAwait(false);
        }
    }

    private async Task UnsubscribeAsync(Session session, uint id)
    {
        try
        {
            await session.RequestAsync(
                TagMessageType.Unsubscribe,
                new ProtobufBody(new UnsubscribeTags { Subscription = id }),
                static (scoped in InboundReply _) => true,
                _options.RequestTimeout).ConfigureAwait(false);
        }
        catch (RequestFailedException)
        {
            // The session has ended, and with it the subscription.
        }
    }

    // Returns the session that it was made on. A subscription that another call has made there in the meantime stays, unless it is the one
    // to replace.
    private async Task<Session> SubscribeAsync(
        TagSubscription subscription, CancellationToken cancellationToken, uint? replaced = null)
    {
        await subscription.Subscribing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            TagList.Resolved resolved = await CurrentAsync(subscription.Tags, cancellationToken).ConfigureAwait(false);
            (uint Id, TagList.Resolved Tags)? made = subscription.MadeOn(resolved.Session);
            if (made is null || made.Value.Id == replaced)
            {
                await SubscribeAsync(subscription, resolved, cancellationToken).ConfigureAwait(false);
            }

            return resolved.Session;
        }
        finally
        {
            subscription.Subscribing.Release();
        }
    }

    private async Task SubscribeAsync(TagSubscription subscription, TagList.Resolved resolved, CancellationToken cancellationToken)
    {
        var request = new SubscribeTags
        {
            IntervalMs = Milliseconds(subscription.Options.Interval),
            QueueSize = (uint)Math.Max(subscription.Options.QueueSize, 1),
        };
        request.Handles.AddRange(resolved.Handles);
        bool isRead = await resolved.Session.RequestAsync(
            TagMessageType.Subscribe,
            new ProtobufBody(request),
            (scoped in InboundReply reply) =>
            {
                SubscribedTags subscribed = SubscribedTags.Parser.ParseFrom(reply.Body);
                var statuses = new TagStatus[resolved.Handles.Length];
                if (!TagMessages.TrySpread([.. subscribed.Statuses], statuses))
                {
                    return false;
                }

                subscription.Accept(
                    resolved, subscribed.Subscription, TimeSpan.FromMilliseconds(subscribed.IntervalMs), WithReasons(resolved, statuses));
                return true;
            },
            _options.RequestTimeout,
            cancellationToken).ConfigureAwait(false);
        if (!isRead)
        {
            throw new InvalidDataException("The server's reply to a Subscribe has a different number of statuses than tags.");
        }

        bool isWanted;
        lock (_gate)
        {
            isWanted = _subscriptions.Contains(subscription);
        }

        if (!isWanted)
        {
            // Disposed while it was being recreated.
            await subscription.DisposeAsync().ConfigureAwait(false);
        }
    }

    // A server that has just started may know a name later than others: then the subscription is recreated with it.
    private async Task SubscribeToMissingAsync(TagSubscription subscription, Session session)
    {
        while (subscription.MadeOn(session) is { Tags.Unknown: > 0 } made && !_closing.IsCancellationRequested)
        {
            await Task.Delay(RetryDelay, _closing.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            try
            {
                TagList.Resolved resolved = await CurrentAsync(subscription.Tags, _closing.Token).ConfigureAwait(false);
                if (resolved.Session == session && resolved.HasMoreThan(made.Tags))
                {
                    await ReplaceAsync(subscription, session, made.Id).ConfigureAwait(false);
                }
            }
            catch (Exception)
            {
                // The cause may be gone the next time. Retried as long as this session exists.
            }
        }
    }

    // The new subscription is created before the old one ends, so that no change is missed, unless the session may not have both. The first
    // update always contains the current samples.
    private async Task ReplaceAsync(TagSubscription subscription, Session session, uint id)
    {
        try
        {
            await SubscribeAsync(subscription, _closing.Token, id).ConfigureAwait(false);
        }
        catch (RequestFailedException e) when (e.Code == ErrorCode.Overloaded)
        {
            await UnsubscribeAsync(session, id).ConfigureAwait(false);
            await SubscribeAsync(subscription, _closing.Token, id).ConfigureAwait(false);
            return;
        }

        await UnsubscribeAsync(session, id).ConfigureAwait(false);
    }

    // Until it is subscribed on the current session, which may differ from the session that began it.
    private async Task SubscribeAgainAsync(TagSubscription subscription, Session session)
    {
        while (!session.IsClosed && !_closing.IsCancellationRequested && !subscription.IsOn(session))
        {
            lock (_gate)
            {
                if (!_subscriptions.Contains(subscription))
                {
                    return;
                }
            }

            try
            {
                Session now = await SubscribeAsync(subscription, _closing.Token).ConfigureAwait(false);
                await SubscribeToMissingAsync(subscription, now).ConfigureAwait(false);
                return;
            }
            catch (Exception)
            {
                // The cause may be gone the next time.
                await Task.Delay(RetryDelay, _closing.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }
}
