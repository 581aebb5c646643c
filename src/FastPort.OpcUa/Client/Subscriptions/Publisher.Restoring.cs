using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <content>Transferring the subscriptions to a session, and recreating those that the server does not have.</content>
internal sealed partial class Publisher
{
    /// <summary>
    /// Transfers the subscriptions to a session: the session that has them, or a new one. Those that the server refuses for now are
    /// requested again while the client publishes.
    /// </summary>
    /// <exception cref="OpcUaException">
    /// The connection has ended, or there was no answer: the rest can be done on the next connection.
    /// </exception>
    public async Task RestoreAsync(SessionLink link, CancellationToken cancellationToken)
    {
        uint[] unwanted;
        lock (_gate)
        {
            _link = link;
            unwanted = [.. _unwanted.Where(one => one.Session == link.Session).Select(static one => one.Id)];
            _unwanted.Clear();
        }

        _strangers.Clear();
        if (unwanted.Length != 0)
        {
            await DeleteAsync(link, unwanted, cancellationToken).ConfigureAwait(false);
        }

        await TransferAsync(link, cancellationToken).ConfigureAwait(false);
        foreach (OpcUaSubscription subscription in Snapshot())
        {
            StatusCode status = subscription.Loss?.Why ?? StatusCodes.BadSubscriptionIdInvalid;
            if (subscription.Session == link.Session && subscription.IsComplete)
            {
                // The server may have got further namespaces.
                subscription.Enter(link);
                status = await CatchUpAsync(link, subscription, cancellationToken).ConfigureAwait(false);
            }
            else if (subscription.Session == link.Session)
            {
                // The connection has ended while it was being created: it exists, without some of its items.
                await DeleteAsync(link, [subscription.Id], cancellationToken).ConfigureAwait(false);
            }

            if (status.IsBad)
            {
                await CreateAgainAsync(link, subscription, status, cancellationToken).ConfigureAwait(false);
            }
        }

        if (link.Connection.IsClosing)
        {
            throw new OpcUaException(StatusCodes.BadConnectionClosed, $"The connection to {endpointUrl} has ended again.");
        }
    }

    // The server does not have the service, which is permanent. Any other refusal may be temporary: a limit that still counts the
    // subscriptions of the previous session, a server that is starting or overloaded, a missing permission.
    private static bool IsFinal(StatusCode refusal) => refusal == StatusCodes.BadServiceUnsupported
        || refusal == StatusCodes.BadNotSupported || refusal == StatusCodes.BadNotImplemented;

    // Those of an earlier session are requested by their ids. In another run of the server, or if this session has used the ids for others,
    // these ids mean other subscriptions.
    private async Task TransferAsync(SessionLink link, CancellationToken cancellationToken)
    {
        OpcUaSubscription[] all = Snapshot();
        HashSet<uint> present = [.. all.Where(one => one.Session == link.Session).Select(static one => one.Id)];
        OpcUaSubscription[] foreign = Array.FindAll(
            all,
            one => one.Session is { } session && session != link.Session && one.ServerStart == link.StartTime && !present.Contains(one.Id));

        // If the server cannot do it, or has lost them, they are recreated. A subscription that has done it may be notified once more.
        for (int done = 0; done < foreign.Length;)
        {
            OpcUaSubscription[] part = [.. foreign.Skip(done).Take(link.Limits[Bulk.Subscriptions])];
            ServiceResult<TransferSubscriptionsResponse> result =
                await link.SendOnceAsync<TransferSubscriptionsRequest, TransferSubscriptionsResponse>(
                    new TransferSubscriptionsRequest
                    {
                        SubscriptionIds = [.. part.Select(static one => one.Id)],
                        SendInitialValues = true,
                    },
                    cancellationToken).ConfigureAwait(false);
            if (result.Fate != RequestFate.Answered || SessionLink.IsSessionLost(result.Status))
            {
                throw ServiceFailure.Create(result.Status, "TransferSubscriptions", endpointUrl, result.Fate);
            }

            if (link.Limits.TryLower(Bulk.Subscriptions, part.Length, result.Status))
            {
                continue;
            }

            TransferResult[] results = result.Response.Results ?? [];
            foreach ((OpcUaSubscription one, TransferResult transferred) in part.Zip(results))
            {
                if (!transferred.StatusCode.IsBad || transferred.StatusCode == StatusCodes.BadNothingToDo)
                {
                    one.Enter(link);
                }
            }

            done += part.Length;
        }
    }

    // Good, or the reason why the subscription has to be recreated. If it may still exist, it is deleted, because there must not be two of
    // it.
    private async ValueTask<StatusCode> CatchUpAsync(SessionLink link, OpcUaSubscription subscription, CancellationToken cancellationToken)
    {
        StatusCode status = await subscription.CatchUpAsync(link, _received, cancellationToken).ConfigureAwait(false);
        if (status.IsBad && status != StatusCodes.BadSubscriptionIdInvalid && status != StatusCodes.BadNoSubscription)
        {
            await DeleteAsync(link, [subscription.Id], cancellationToken).ConfigureAwait(false);
        }

        return status;
    }

    // While publishing: if no answer comes, the client reconnects and then restores the subscription.
    private async Task CreateLostAsync(SessionLink link, CancellationToken cancellationToken)
    {
        try
        {
            foreach (OpcUaSubscription subscription in Snapshot())
            {
                if (subscription.Loss is { Due.IsCompleted: true } loss)
                {
                    await CreateAgainAsync(link, subscription, loss.Why, cancellationToken).ConfigureAwait(false);
                }
            }
        }
        catch (OpcUaException e)
        {
            link.Break($"a subscription could not be recreated: {e.Message}");
        }
    }

    // If the server refuses, the request is repeated later, or the subscription ends permanently. Throws if no answer comes.
    private async Task CreateAgainAsync(
        SessionLink link, OpcUaSubscription subscription, StatusCode why, CancellationToken cancellationToken)
    {
        try
        {
            await subscription.CreateAgainAsync(link, why, cancellationToken).ConfigureAwait(false);
            subscription.Made = Interlocked.Increment(ref _made);
            subscription.MadeAt = time.GetTimestamp();
            if (!Snapshot().Contains(subscription))
            {
                // Disposed in the meantime, under its old id.
                await DeleteAsync(link, [subscription.Id], cancellationToken).ConfigureAwait(false);
            }
        }
        catch (OpcUaException e) when (!e.MayHaveExecuted && !link.Connection.IsClosing && !SessionLink.IsSessionLost(e.Status))
        {
            if (!subscription.IsComplete && subscription.Session == link.Session)
            {
                // It was created, and its items were refused. The id of an earlier session may belong to another subscription in this
                // session.
                await DeleteAsync(link, [subscription.Id], cancellationToken).ConfigureAwait(false);
            }

            if (!Snapshot().Contains(subscription))
            {
                // Disposed meanwhile.
                return;
            }

            if (IsFinal(e.Status))
            {
                Fail(subscription, e);
                return;
            }

            bool isNew = subscription.Loss?.Refusal != e.Status;
            ClientLog.SubscriptionRefused(
                logger, isNew ? LogLevel.Warning : LogLevel.Debug, endpointUrl, subscription.Loss?.Id ?? subscription.Id, e.Message);
            Lose(subscription, why, e.Status, cancellationToken);
            if (isNew)
            {
                subscription.TellLoss();
            }
        }
    }

    // The server does not have it. It is recreated at once, and then after delays that grow until one has lived for some time: a server
    // that ends or refuses each one must not be asked in a tight loop.
    private void Lose(OpcUaSubscription subscription, StatusCode why, StatusCode refusal, CancellationToken cancellationToken)
    {
        ReconnectBackoff delays = subscription.Delays ??= new ReconnectBackoff(options.ReconnectDelay, options.MaxReconnectDelay);
        if (subscription.Loss is null && time.GetElapsedTime(subscription.MadeAt) >= options.MaxReconnectDelay)
        {
            delays.Reset();
        }

        TimeSpan delay = delays.Next();
        long dueAt = time.GetTimestamp() + (long)(delay.TotalSeconds * time.TimestampFrequency);
        Task due = Task.Delay(delay, time, cancellationToken);
        subscription.Lose(new SubscriptionLoss(subscription.Loss?.Id ?? subscription.Id, why, refusal, due, dueAt));
    }

    private void Fail(OpcUaSubscription subscription, OpcUaException error)
    {
        Remove(subscription);
        subscription.End(error);
    }
}
