using System.Collections.Concurrent;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Monitored items (OPC 10000-4, 5.13). More items than the server accepts at a time are sent in several requests.</content>
public sealed partial class OpcUaSubscription
{
    // By handle. Read by the task that receives, changed by callers.
    private readonly ConcurrentDictionary<uint, OpcUaMonitoredItem> _items = [];

    /// <summary>The items that the server has accepted, in the order in which they were added.</summary>
    public IReadOnlyList<OpcUaMonitoredItem> Items =>
        [.. Kept.Where(static item => !item.IsForEvents)];

    private IEnumerable<OpcUaMonitoredItem> Kept => _items.Values.Where(static item => item.IsKept).OrderBy(static item => item.Handle);

    /// <summary>Adds items. Their values may come before the call returns.</summary>
    /// <param name="items">What to monitor.</param>
    /// <param name="cancellationToken">Cancels the wait. Items that the server creates for a request in progress are deleted.</param>
    /// <returns>
    /// The items, in order; the status of each says whether the server monitors it. Items with a bad status are not kept.
    /// </returns>
    /// <exception cref="OpcUaException">
    /// A request failed as a whole; the items of earlier requests are in <see cref="Items"/>. If it may have been executed, the server may
    /// monitor its items until the subscription ends; their values are ignored.
    /// </exception>
    public async ValueTask<IReadOnlyList<OpcUaMonitoredItem>> AddItemsAsync(
        IReadOnlyList<MonitoredItemOptions> items, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(items);
        NamespaceTable namespaces = _client.Namespaces;
        OpcUaMonitoredItem[] added =
            [.. items.Select(options => new OpcUaMonitoredItem(this, _client.NextHandle(), options, namespaces))];
        lock (_gate)
        {
            foreach (OpcUaMonitoredItem item in added)
            {
                // The subscription may already belong to another session than that of the node ids. Its own session may have more
                // namespaces than at the transfer.
                item.Move(_namespaces is { } own && !namespaces.Extends(own) ? own : namespaces);
                _items[item.Handle] = item;
            }
        }

        try
        {
            await _client.InPartsAsync(
                added, Bulk.MonitoredItems, "CreateMonitoredItems", part => AddPartAsync(part, cancellationToken), cancellationToken)
                .ConfigureAwait(false);
        }
        finally
        {
            foreach (OpcUaMonitoredItem item in added.Where(static item => !item.IsKept))
            {
                _items.TryRemove(item.Handle, out _);
            }
        }

        return added;
    }

    /// <summary>Changes sampling, queues and filters of items. Node, attribute, index range and mode stay as they are.</summary>
    /// <param name="items">The items with their new options.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A status for each item, in order. An item with a bad status continues unchanged.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public ValueTask<StatusCode[]> ModifyItemsAsync(
        IReadOnlyList<KeyValuePair<OpcUaMonitoredItem, MonitoredItemOptions>> items, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(items);
        return InPartsAsync(items, "ModifyMonitoredItems", async part =>
        {
            (_, ModifyMonitoredItemsResponse response) = await InvokeAsync<ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse>(
                () => new ModifyMonitoredItemsRequest
                {
                    SubscriptionId = Id,
                    TimestampsToReturn = _options.Timestamps,
                    ItemsToModify =
                    [
                        .. part.Select(one => new MonitoredItemModifyRequest
                        {
                            MonitoredItemId = IdOf(one.Key),
                            RequestedParameters = one.Value.ParametersOf(one.Key.Handle),
                        }),
                    ],
                },
                "ModifyMonitoredItems",
                cancellationToken).ConfigureAwait(false);
            MonitoredItemModifyResult[] results = Complete(response.Results, part.Length, "ModifyMonitoredItems");
            lock (_gate)
            {
                for (int i = 0; i < part.Length; i++)
                {
                    part[i].Key.Accept(part[i].Value, results[i]);
                }
            }

            return [.. results.Select(static result => result.StatusCode)];
        }, cancellationToken);
    }

    /// <summary>Sets what happens to the values of items (OPC 10000-4, 5.13.4).</summary>
    /// <param name="items">The items.</param>
    /// <param name="mode">The mode.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A status for each item, in order.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public ValueTask<StatusCode[]> SetMonitoringModeAsync(
        IReadOnlyList<OpcUaMonitoredItem> items, MonitoringMode mode, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(items);
        return InPartsAsync(items, "SetMonitoringMode", async part =>
        {
            (_, SetMonitoringModeResponse response) = await InvokeAsync<SetMonitoringModeRequest, SetMonitoringModeResponse>(
                () => new SetMonitoringModeRequest { SubscriptionId = Id, MonitoringMode = mode, MonitoredItemIds = IdsOf(part) },
                "SetMonitoringMode",
                cancellationToken).ConfigureAwait(false);
            StatusCode[] results = Complete(response.Results, part.Length, "SetMonitoringMode");
            lock (_gate)
            {
                foreach ((int i, OpcUaMonitoredItem item) in part.Index().Where(one => !results[one.Index].IsBad))
                {
                    item.Accept(mode);
                }
            }

            return results;
        }, cancellationToken);
    }

    /// <summary>
    /// Makes items report when another one does: an item with mode Sampling sends the values in its queue whenever the triggering item
    /// reports one (OPC 10000-4, 5.13.5).
    /// </summary>
    /// <param name="trigger">The triggering item.</param>
    /// <param name="add">Items that it triggers from now on.</param>
    /// <param name="remove">Items that it no longer triggers. Defaults to none.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A status for each item: those to add, then those to remove.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public async ValueTask<StatusCode[]> SetTriggeringAsync(
        OpcUaMonitoredItem trigger,
        IReadOnlyList<OpcUaMonitoredItem> add,
        IReadOnlyList<OpcUaMonitoredItem>? remove = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(trigger);
        ArgumentNullException.ThrowIfNull(add);
        remove ??= [];

        // Refused even if there is nothing to change.
        _ = IdOf(trigger);

        // In the server's order: an item that is in both lists is triggered.
        (OpcUaMonitoredItem Item, bool IsAdded)[] links =
            [.. remove.Select(static item => (item, false)), .. add.Select(static item => (item, true))];
        StatusCode[] statuses = await InPartsAsync(links, "SetTriggering", SendAsync, cancellationToken).ConfigureAwait(false);
        return [.. statuses.AsSpan(remove.Count), .. statuses.AsSpan(0, remove.Count)];

        async Task<StatusCode[]> SendAsync((OpcUaMonitoredItem Item, bool IsAdded)[] part)
        {
            OpcUaMonitoredItem[] removes = [.. part.Where(static link => !link.IsAdded).Select(static link => link.Item)];
            OpcUaMonitoredItem[] adds = [.. part.Where(static link => link.IsAdded).Select(static link => link.Item)];
            (_, SetTriggeringResponse response) = await InvokeAsync<SetTriggeringRequest, SetTriggeringResponse>(
                () => TriggeringRequest(trigger, adds, removes), "SetTriggering", cancellationToken).ConfigureAwait(false);
            StatusCode[] removed = Complete(response.RemoveResults ?? [], removes.Length, "SetTriggering");
            StatusCode[] added = Complete(response.AddResults ?? [], adds.Length, "SetTriggering");
            lock (_gate)
            {
                trigger.Triggered.ExceptWith(removes.Where((_, i) => !removed[i].IsBad));
                trigger.Triggered.UnionWith(adds.Where((_, i) => !added[i].IsBad));
            }

            return [.. removed, .. added];
        }
    }

    /// <summary>Removes items. Changes that wait in <see cref="Changes"/> may still come.</summary>
    /// <param name="items">The items.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// A status for each item, in order. Items that the server did not have (BadMonitoredItemIdInvalid) are also removed.
    /// </returns>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public ValueTask<StatusCode[]> RemoveItemsAsync(
        IReadOnlyList<OpcUaMonitoredItem> items, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(items);
        return InPartsAsync(items, "DeleteMonitoredItems", async part =>
        {
            (_, DeleteMonitoredItemsResponse response) = await InvokeAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
                () => new DeleteMonitoredItemsRequest { SubscriptionId = Id, MonitoredItemIds = IdsOf(part) },
                "DeleteMonitoredItems",
                cancellationToken).ConfigureAwait(false);
            StatusCode[] results = Complete(response.Results, part.Length, "DeleteMonitoredItems");
            Forget([.. part.Where((_, i) => !results[i].IsBad || results[i] == StatusCodes.BadMonitoredItemIdInvalid)]);
            return results;
        }, cancellationToken);
    }

    private void Forget(OpcUaMonitoredItem[] removed)
    {
        lock (_gate)
        {
            foreach (OpcUaMonitoredItem item in removed)
            {
                _items.TryRemove(item.Handle, out _);
                item.Remove();
            }

            foreach (OpcUaMonitoredItem trigger in _items.Values.Where(static item => item.Triggered.Count != 0))
            {
                trigger.Triggered.ExceptWith(removed);
            }
        }
    }

    // Ids are valid only in their subscription.
    private uint[] IdsOf(IEnumerable<OpcUaMonitoredItem> items) => [.. items.Select(IdOf)];

    private uint IdOf(OpcUaMonitoredItem item) =>
        item.Subscription == this ? item.Id : throw new ArgumentException("The item belongs to another subscription.", nameof(item));

    private SetTriggeringRequest TriggeringRequest(
        OpcUaMonitoredItem trigger, IEnumerable<OpcUaMonitoredItem> add, IEnumerable<OpcUaMonitoredItem> remove) =>
        new() { SubscriptionId = Id, TriggeringItemId = IdOf(trigger), LinksToAdd = IdsOf(add), LinksToRemove = IdsOf(remove) };

    private CreateMonitoredItemsRequest ItemsRequest(IEnumerable<OpcUaMonitoredItem> items) => new()
    {
        SubscriptionId = Id,
        TimestampsToReturn = _options.Timestamps,
        ItemsToCreate = [.. items.Select(static item => item.CreateRequest)],
    };

    private async Task AddPartAsync(OpcUaMonitoredItem[] part, CancellationToken cancellationToken)
    {
        while (true)
        {
            (int epoch, CreateMonitoredItemsResponse response) =
                await InvokeAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
                    () => ItemsRequest(part), "CreateMonitoredItems", cancellationToken, Delete).ConfigureAwait(false);
            if (TryAccept(epoch, part, response))
            {
                return;
            }
        }
    }

    // Items created by an abandoned request: no caller knows them. The answer is not awaited.
    private static void Delete(SessionLink link, CreateMonitoredItemsRequest request, CreateMonitoredItemsResponse response)
    {
        uint[] ids =
            [.. (response.Results ?? []).Where(static one => !one.StatusCode.IsBad).Select(static one => one.MonitoredItemId)];
        if (ids.Length != 0)
        {
            _ = link.SendOnceAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
                new DeleteMonitoredItemsRequest { SubscriptionId = request.SubscriptionId, MonitoredItemIds = ids },
                CancellationToken.None).AsTask();
        }
    }

    // False if the subscription was recreated in the meantime: it no longer has these items.
    private bool TryAccept(int epoch, OpcUaMonitoredItem[] part, in CreateMonitoredItemsResponse response)
    {
        MonitoredItemCreateResult[] results = Complete(response.Results, part.Length, "CreateMonitoredItems");
        lock (_gate)
        {
            if (epoch != _epoch)
            {
                return false;
            }

            if (Id == 0)
            {
                // The server has ended the subscription after its answer.
                throw ServiceFailure.Create(StatusCodes.BadSubscriptionIdInvalid, "CreateMonitoredItems", _client.EndpointUrl);
            }

            for (int i = 0; i < part.Length; i++)
            {
                part[i].Accept(results[i]);
            }

            return true;
        }
    }

    private async ValueTask<StatusCode[]> InPartsAsync<T>(
        IReadOnlyList<T> items, string service, Func<T[], Task<StatusCode[]>> send, CancellationToken cancellationToken)
    {
        List<StatusCode> statuses = [];
        await _client.InPartsAsync(
            items,
            Bulk.MonitoredItems,
            service,
            async part => statuses.AddRange(await send(part).ConfigureAwait(false)),
            cancellationToken).ConfigureAwait(false);
        return [.. statuses];
    }

    private T[] Complete<T>(T[]? results, int count, string service) =>
        results is not null && results.Length == count
            ? results
            : throw ServiceFailure.Create(StatusCodes.BadUnknownResponse, service, _client.EndpointUrl);
}
