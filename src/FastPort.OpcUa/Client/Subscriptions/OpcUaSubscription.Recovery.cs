using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Recreating the subscription. Belongs to the task that publishes, or brings the subscription back after a loss.</content>
public sealed partial class OpcUaSubscription
{
    // The table that the node ids of the items belong to. Under the gate.
    private NamespaceTable? _namespaces;

    // Number of items per request when the subscription is recreated. Belongs to the task that publishes.
    private int _mostItems = int.MaxValue;

    /// <summary>
    /// The session that the server has the subscription in; null if it does not have it. Belongs to the task that publishes.
    /// </summary>
    internal ClientSession? Session { get; private set; }

    /// <summary>When that server was started; null if it does not report that. Belongs to the task that publishes.</summary>
    internal DateTime? ServerStart { get; private set; }

    /// <summary>
    /// The reason of the subscription's end, until it is recreated; null while the server has it. Belongs to the task that publishes.
    /// </summary>
    internal SubscriptionLoss? Loss { get; private set; }

    /// <summary>The delays before it is recreated; null if it never was. Belongs to the task that publishes.</summary>
    internal ReconnectBackoff? Delays { get; set; }

    /// <summary>
    /// Whether all items were requested since the subscription was last created. If not, the connection has ended in the meantime, and it
    /// has to be recreated. Belongs to the task that publishes.
    /// </summary>
    internal bool IsComplete { get; private set; } = true;

    /// <summary>The publisher's number of the last creation of the subscription.</summary>
    internal int Made { get; set; }

    /// <summary>When it was last recreated, as a timestamp of the client's time. Belongs to the task that publishes.</summary>
    internal long MadeAt { get; set; }

    /// <summary>The server has the subscription in this session.</summary>
    internal void Enter(SessionLink link)
    {
        Session = link.Session;
        ServerStart = link.StartTime;
        lock (_gate)
        {
            _namespaces = link.Namespaces;

            // Including items that are being added: they are requested next on this session.
            foreach (OpcUaMonitoredItem item in _items.Values)
            {
                item.Move(link.Namespaces);
            }
        }
    }

    /// <summary>The server does not have the subscription. Calls in the meantime fail with BadSubscriptionIdInvalid.</summary>
    internal void Lose(SubscriptionLoss loss)
    {
        Loss = loss;
        Session = null;
        IsComplete = false;
        lock (_gate)
        {
            // The id may become that of another one.
            Id = 0;
            foreach (OpcUaMonitoredItem item in _items.Values)
            {
                item.Lose(loss.Refusal.IsBad ? loss.Refusal : loss.Why);
            }
        }
    }

    /// <summary>The reader gets the loss of values and its reason in its stream.</summary>
    internal void TellLoss() => Tell([.. Items.Where(static item => item.Options.Mode == MonitoringMode.Reporting)]);

    /// <summary>Recreates the subscription with all its items.</summary>
    /// <param name="link">The session.</param>
    /// <param name="why">The reason for the end of the previous one.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="OpcUaException">The server refuses, or the connection has ended.</exception>
    internal async Task CreateAgainAsync(SessionLink link, StatusCode why, CancellationToken cancellationToken)
    {
        uint id = Loss?.Id ?? Id;
        CreateSubscriptionResponse created = await link.CallAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(
            CreateRequest, "CreateSubscription", cancellationToken).ConfigureAwait(false);
        IsComplete = false;
        _next = 1;
        OpcUaMonitoredItem[] items;
        lock (_gate)
        {
            // At once: an item that is added from now on must have the new id and a node of this session's namespaces.
            Accept(created);
            items = [.. Kept];
            Enter(link);
        }

        List<OpcUaMonitoredItem> refused = [];
        int most = Math.Min(_mostItems, link.Limits[Bulk.MonitoredItems]);
        for (int done = 0; done < items.Length;)
        {
            OpcUaMonitoredItem[] part = items[done..(done + Math.Min(most, items.Length - done))];
            ServiceResult<CreateMonitoredItemsResponse> result =
                await link.SendOnceAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
                    ItemsRequest(part), cancellationToken).ConfigureAwait(false);
            if (IsTooMuch(result.Status, result.Fate) && part.Length > 1)
            {
                // They were added in smaller parts, to a server that does not declare its limit.
                link.Limits.TryLower(Bulk.MonitoredItems, part.Length, result.Status);
                most = part.Length / 2;
                continue;
            }

            if (IsAnswerTooMuch(result.Status, result.Fate))
            {
                // The server has items with unknown ids: they end with the subscription. The next attempt asks for fewer.
                _mostItems = Math.Max(1, part.Length / 2);
            }

            TryAccept(_epoch, part, ServiceFailure.Check(result, "CreateMonitoredItems", _client.EndpointUrl));
            await RemoveAgainAsync(link, part, cancellationToken).ConfigureAwait(false);

            // Their nodes may be gone since the server's restart.
            refused.AddRange(part.Where(static item => item.IsKept && item.Id == 0 && !item.IsForEvents));
            done += part.Length;
        }

        await TriggerAgainAsync(link, items, cancellationToken).ConfigureAwait(false);
        IsComplete = true;
        Loss = null;

        // Not before: a failed attempt is repeated. No message of the subscription is handled in the meantime.
        RaiseValuesLost(why);
        Tell(refused);
        ClientLog.SubscriptionLost(_client.Logger, _client.EndpointUrl, id, why);
    }

    // Whether fewer items may be accepted. A response that is too large does not count: the server then has the items.
    private static bool IsTooMuch(StatusCode status, RequestFate fate) =>
        status == StatusCodes.BadTooManyOperations || status == StatusCodes.BadRequestTooLarge
        || (status == StatusCodes.BadEncodingLimitsExceeded && fate == RequestFate.Unsent);

    private static bool IsAnswerTooMuch(StatusCode status, RequestFate fate) =>
        status == StatusCodes.BadResponseTooLarge
        || (status == StatusCodes.BadEncodingLimitsExceeded && fate != RequestFate.Unsent);

    private void Tell(List<OpcUaMonitoredItem> items)
    {
        if (items.Count != 0)
        {
            foreach (OpcUaMonitoredItem item in items)
            {
                _changes.Write(new DataChange(item, new DataValue(Variant.Null, item.Status)));
            }

            RaiseReported();
        }
    }

    // Items that were removed while the subscription was being recreated, when they had no server id.
    private async Task RemoveAgainAsync(SessionLink link, OpcUaMonitoredItem[] items, CancellationToken cancellationToken)
    {
        OpcUaMonitoredItem[] removed = Array.FindAll(items, item => item.Id != 0 && !_items.ContainsKey(item.Handle));
        if (removed.Length != 0)
        {
            await link.SendOnceAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
                new DeleteMonitoredItemsRequest { SubscriptionId = Id, MonitoredItemIds = IdsOf(removed) }, cancellationToken)
                .ConfigureAwait(false);
            Forget(removed);
        }
    }

    // The items continue without a link that the server refuses.
    private async Task TriggerAgainAsync(SessionLink link, OpcUaMonitoredItem[] items, CancellationToken cancellationToken)
    {
        foreach ((OpcUaMonitoredItem trigger, OpcUaMonitoredItem[] triggered) in TriggersOf(items))
        {
            for (int done = 0; done < triggered.Length;)
            {
                OpcUaMonitoredItem[] part = [.. triggered.Skip(done).Take(link.Limits[Bulk.MonitoredItems])];
                ServiceResult<SetTriggeringResponse> result = await link.SendOnceAsync<SetTriggeringRequest, SetTriggeringResponse>(
                    TriggeringRequest(trigger, part, []), cancellationToken).ConfigureAwait(false);
                if (result.Fate == RequestFate.Unanswered || link.IsOver(result.Fate, result.Status)
                    || SessionLink.IsSessionLost(result.Status))
                {
                    throw ServiceFailure.Create(result.Status, "SetTriggering", _client.EndpointUrl, result.Fate);
                }

                if (link.Limits.TryLower(Bulk.MonitoredItems, part.Length, result.Status))
                {
                    continue;
                }

                done += part.Length;
                if (result.Status.IsBad)
                {
                    ClientLog.TriggeringRefused(_client.Logger, _client.EndpointUrl, Id, result.Status);
                }
            }
        }
    }

    private List<(OpcUaMonitoredItem Trigger, OpcUaMonitoredItem[] Triggered)> TriggersOf(OpcUaMonitoredItem[] items)
    {
        lock (_gate)
        {
            return
            [
                .. items.Where(static item => item.Id != 0 && item.Triggered.Count != 0)
                    .Select(static item => (item, item.Triggered.Where(static other => other.Id != 0).ToArray())),
            ];
        }
    }
}
