using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The subscriptions of a client, and the Publish requests that bring their messages (OPC 10000-4, 5.14.5). One task at a time publishes or
/// restores: it awaits the responses in the order of the requests, which is the order of the server's answers, so messages need no further
/// ordering and no lock. <see cref="_gate"/> guards the list, which callers change.
/// </summary>
internal sealed partial class Publisher(string endpointUrl, OpcUaClientOptions options, TimeProvider time, ILogger logger)
{
    private readonly Lock _gate = new();
    private readonly List<OpcUaSubscription> _subscriptions = [];
    private readonly Queue<SubscriptionAcknowledgement> _received = new();
    private readonly Stack<PendingRequest<PublishResponse>> _pool = [];

    // Unwanted subscriptions that a session may still have: deleted when the client reconnects with it.
    private readonly HashSet<(ClientSession? Session, uint Id)> _unwanted = [];

    // Unknown ids that were deleted on the current connection, once each. Belongs to the task that publishes.
    private readonly HashSet<uint> _strangers = [];
    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private SessionLink? _link;

    // Counts the creations of subscriptions.
    private int _made;

    // The requests for subscriptions that are not in the list yet.
    private int _creating;

    /// <summary>
    /// A subscription is requested: its messages may come before <see cref="TryAdd"/>. Followed by <see cref="EndCreate"/>.
    /// </summary>
    public void BeginCreate() => Interlocked.Increment(ref _creating);

    public void EndCreate() => Interlocked.Decrement(ref _creating);

    /// <summary>Adds a subscription. False if its session's connection is no longer the current one: it has to be recreated.</summary>
    public bool TryAdd(OpcUaSubscription subscription, SessionLink link)
    {
        lock (_gate)
        {
            if (_link != link)
            {
                _unwanted.Add((link.Session, subscription.Id));
                return false;
            }

            subscription.Enter(link);
            subscription.Made = Interlocked.Increment(ref _made);
            _subscriptions.Add(subscription);
        }

        Wake();
        return true;
    }

    /// <summary>Removes a subscription; its messages are ignored from now on. False if it was removed before.</summary>
    public bool Remove(OpcUaSubscription subscription)
    {
        bool isRemoved;
        lock (_gate)
        {
            isRemoved = _subscriptions.Remove(subscription);
        }

        Wake();
        return isRemoved;
    }

    /// <summary>Deletes a subscription that was removed: now, or if that is not possible when its session is active again.</summary>
    /// <param name="subscription">The subscription.</param>
    /// <param name="link">The current session; null while there is none.</param>
    public async ValueTask DeleteAsync(OpcUaSubscription subscription, SessionLink? link)
    {
        (ClientSession? Session, uint Id) unwanted = (subscription.Session, subscription.Id);
        if (unwanted.Session is null)
        {
            // The server does not have it.
            return;
        }

        lock (_gate)
        {
            _unwanted.Add(unwanted);
        }

        // Regardless of the answer: without Publish requests the server ends it anyway.
        if (link is not null && await DeleteAsync(link, [unwanted.Id], CancellationToken.None).ConfigureAwait(false))
        {
            lock (_gate)
            {
                _unwanted.Remove(unwanted);
            }
        }
    }

    /// <summary>Checks again whether there is something to publish, and room for it.</summary>
    public void Wake() =>
        Interlocked.Exchange(ref _changed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult();

    /// <summary>Waits until the reader of a subscription has caught up. False if the subscription was removed.</summary>
    public async ValueTask<bool> WaitForRoomAsync(OpcUaSubscription subscription, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task changed = Volatile.Read(ref _changed).Task;
            if (!Snapshot().Contains(subscription))
            {
                return false;
            }

            if (!subscription.IsFull)
            {
                return true;
            }

            await changed.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Ends all subscriptions: the client is closed, or does not reconnect.</summary>
    public void End(Exception? error)
    {
        lock (_gate)
        {
            // A subscription whose answer comes only now must not be added: it would never be ended.
            _link = null;
        }

        foreach (OpcUaSubscription subscription in Snapshot())
        {
            Remove(subscription);
            subscription.End(error);
        }
    }

    /// <summary>The client's first session, before it has requests. Each later one begins with <see cref="RestoreAsync"/>.</summary>
    public void Enter(SessionLink link)
    {
        lock (_gate)
        {
            _link = link;
        }
    }

    /// <summary>Publishes until the connection has ended.</summary>
    /// <param name="link">The session.</param>
    /// <param name="cancellationToken">Canceled when the connection has ended.</param>
    public async Task RunAsync(SessionLink link, CancellationToken cancellationToken)
    {
        // With the number of subscriptions that had been made when the request was sent.
        var waiting = new Queue<(Task<ServiceResult<PublishResponse>> Result, int Made)>();
        var delays = new ReconnectBackoff(options.ReconnectDelay, options.MaxReconnectDelay);
        int limit = options.MaxPublishRequests;
        try
        {
            while (!link.Connection.IsClosing)
            {
                (int wanted, Task? due) = await WaitForWorkAsync(cancellationToken).ConfigureAwait(false);
                while (waiting.Count < Math.Min(wanted, limit))
                {
                    int before = Volatile.Read(ref _made);
                    waiting.Enqueue((SendAsync(link), before));
                }

                if (due is not null && wanted != 0)
                {
                    await Task.WhenAny(due, waiting.Peek().Result).ConfigureAwait(false);
                }

                if (due is { IsCompleted: true })
                {
                    await CreateLostAsync(link, cancellationToken).ConfigureAwait(false);
                    continue;
                }

                (Task<ServiceResult<PublishResponse>> next, int made) = waiting.Dequeue();
                ServiceResult<PublishResponse> result = await next.ConfigureAwait(false);
                if (result.Status.IsGood)
                {
                    delays.Reset();
                    await ReceiveAsync(link, result.Response, cancellationToken).ConfigureAwait(false);
                }
                else if (result.Status == StatusCodes.BadTooManyPublishRequests && waiting.Count != 0)
                {
                    limit = waiting.Count;
                }
                else
                {
                    await HandleFaultAsync(link, result.Status, made, delays, cancellationToken).ConfigureAwait(false);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The connection has ended.
        }
        catch (Exception e)
        {
            // A defect here must not leave a client with a session but without messages.
            ClientLog.PublishingThrew(logger, e, endpointUrl);
            link.Break("the client failed to publish.");
        }

        // They have ended with the connection.
        foreach ((Task<ServiceResult<PublishResponse>> rest, _) in waiting)
        {
            await rest.ConfigureAwait(false);
        }
    }

    // Whether the server has answered.
    private static async ValueTask<bool> DeleteAsync(SessionLink link, uint[] ids, CancellationToken cancellationToken)
    {
        for (int done = 0; done < ids.Length;)
        {
            uint[] part = [.. ids.Skip(done).Take(link.Limits[Bulk.Subscriptions])];
            ServiceResult<DeleteSubscriptionsResponse> result =
                await link.SendOnceAsync<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(
                    new DeleteSubscriptionsRequest { SubscriptionIds = part }, cancellationToken).ConfigureAwait(false);
            if (result.Fate != RequestFate.Answered)
            {
                return false;
            }

            done += link.Limits.TryLower(Bulk.Subscriptions, part.Length, result.Status) ? 0 : part.Length;
        }

        return true;
    }

    private OpcUaSubscription[] Snapshot()
    {
        lock (_gate)
        {
            return [.. _subscriptions];
        }
    }

    // Wanted is the number of requests that should wait at the server: one more than it has subscriptions, so that it can always answer.
    // Due completes when a lost subscription is to be recreated; null if none is lost. If Due has completed already, Wanted is 0.
    private async ValueTask<(int Wanted, Task? Due)> WaitForWorkAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task changed = Volatile.Read(ref _changed).Task;
            int count = 0;
            bool isFull = false;
            SubscriptionLoss? next = null;
            foreach (OpcUaSubscription subscription in Snapshot())
            {
                isFull |= subscription.IsFull;
                if (subscription.Loss is not { } loss)
                {
                    count++;
                }
                else if (next is null || loss.DueAt < next.DueAt)
                {
                    next = loss;
                }
            }

            // The delay of one of them, not of all: a task that waits for several stays registered with each until it ends.
            Task? due = next?.Due;
            if (due is { IsCompleted: true })
            {
                return (0, due);
            }

            if (count != 0 && !isFull)
            {
                return (count + 1, due);
            }

            await (due is null ? changed : Task.WhenAny(changed, due)).WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    private Task<ServiceResult<PublishResponse>> SendAsync(SessionLink link)
    {
        // A server may accept only a limited number in one request; the rest goes with the next.
        const int MostAcknowledgements = 100;
        var received = new SubscriptionAcknowledgement[Math.Min(_received.Count, MostAcknowledgements)];
        for (int i = 0; i < received.Length; i++)
        {
            received[i] = _received.Dequeue();
        }

        // No deadline: the server answers when it has something to report. The session's keep-alive checks that it is alive.
        return link.SendAsync(
            new PublishRequest { SubscriptionAcknowledgements = received },
            _pool,
            CancellationToken.None,
            new RequestTerms(Timeout.Infinite)).AsTask();
    }

    private async Task ReceiveAsync(SessionLink link, PublishResponse response, CancellationToken cancellationToken)
    {
        // Read before the list: a subscription that is no longer being created is in it.
        bool mayBeNew = Volatile.Read(ref _creating) != 0;
        if (Array.Find(Snapshot(), one => one.Loss is null && one.Id == response.SubscriptionId) is not { } subscription)
        {
            // It has been disposed, or the answer about its creation has not come: it counts at the server. No caller waits for this
            // answer.
            if (!mayBeNew && _strangers.Add(response.SubscriptionId))
            {
                _ = DeleteAsync(link, [response.SubscriptionId], CancellationToken.None).AsTask();
            }

            return;
        }

        StatusCode end = await subscription.ReceiveAsync(link, response, _received, this, cancellationToken).ConfigureAwait(false);
        if (end == StatusCodes.GoodSubscriptionTransferred)
        {
            Fail(subscription, new OpcUaException(end, $"Another client has taken subscription {subscription.Id} of {endpointUrl}."));
        }
        else if (end.IsBad)
        {
            Lose(subscription, end, refusal: StatusCodes.Good, cancellationToken);
        }
    }

    private async Task HandleFaultAsync(
        SessionLink link, StatusCode status, int made, ReconnectBackoff delays, CancellationToken cancellationToken)
    {
        if (link.Connection.IsClosing)
        {
            return;
        }

        if (SessionLink.IsSessionLost(status))
        {
            link.Break($"the server does not know the session: {status}.");
            return;
        }

        if (status == StatusCodes.BadNoSubscription)
        {
            // Also the answer to remaining requests when the last subscription was disposed: it does not apply to later ones. Each of these
            // is checked.
            OpcUaSubscription[] meant = Array.FindAll(Snapshot(), one => one.Loss is null && one.Made <= made);
            if (meant.Length == 0)
            {
                return;
            }

            await LookForAsync(link, meant, cancellationToken).ConfigureAwait(false);
        }
        else
        {
            ClientLog.PublishFailed(logger, endpointUrl, status);
        }

        // A server that refuses each request must not be asked in a tight loop.
        await Task.Delay(delays.Next(), time, cancellationToken).ConfigureAwait(false);
    }

    // If no answer comes, the client reconnects and then looks for them.
    private async Task LookForAsync(SessionLink link, OpcUaSubscription[] subscriptions, CancellationToken cancellationToken)
    {
        try
        {
            foreach (OpcUaSubscription subscription in subscriptions)
            {
                StatusCode end = await CatchUpAsync(link, subscription, cancellationToken).ConfigureAwait(false);
                if (end.IsBad)
                {
                    Lose(subscription, end, refusal: StatusCodes.Good, cancellationToken);
                }
            }
        }
        catch (OpcUaException e)
        {
            link.Break($"subscriptions could not be looked up: {e.Message}");
        }
    }
}
