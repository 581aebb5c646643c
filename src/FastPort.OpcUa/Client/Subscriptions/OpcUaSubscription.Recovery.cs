using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Making the subscription again. Belongs to the task that publishes, or brings the subscription back after a loss.</content>
public sealed partial class OpcUaSubscription
{
    // The table that the node ids of the items belong to.
    private NamespaceTable? _namespaces;

    /// <summary>The session that the server has the subscription in. Belongs to the task that publishes.</summary>
    internal ClientSession? Session { get; private set; }

    /// <summary>The server has the subscription in this session.</summary>
    internal void Enter(SessionLink link)
    {
        Session = link.Session;
        _namespaces ??= link.Namespaces;
    }

    /// <summary>Makes the subscription again with all its items.</summary>
    /// <param name="link">The session.</param>
    /// <param name="why">What became of the one before.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="OpcUaException">The server refuses, or the connection has ended.</exception>
    internal async Task CreateAgainAsync(SessionLink link, StatusCode why, CancellationToken cancellationToken)
    {
        ClientLog.SubscriptionLost(_client.Logger, _client.EndpointUrl, Id, why);
        CreateSubscriptionResponse created = await link.CallAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(
            CreateRequest, "CreateSubscription", cancellationToken).ConfigureAwait(false);
        RaiseValuesLost(why);
        NamespaceTable before = _namespaces ?? link.Namespaces;
        Accept(created);
        _next = 1;
        OpcUaMonitoredItem[] items = [.. Items];
        lock (_gate)
        {
            _namespaces = link.Namespaces;
            Session = link.Session;

            // Those that are being added, too: they are asked for on this session next.
            foreach (OpcUaMonitoredItem item in _items.Values)
            {
                item.Move(link.Namespaces.Move(item.Options.Node, before));
            }
        }

        foreach (OpcUaMonitoredItem[] part in items.Chunk(link.Limits.MaxMonitoredItemsPerCall))
        {
            CreateMonitoredItemsResponse response = await link.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
                ItemsRequest(part), "CreateMonitoredItems", cancellationToken).ConfigureAwait(false);
            TryAccept(_epoch, part, response);
            foreach (OpcUaMonitoredItem item in part.Where(static item => item.Id == 0))
            {
                // The reader learns in its stream that no values come: the node may be gone since the server's restart.
                _changes.Write(new DataChange(item, new DataValue(Variant.Null, item.Status)));
            }
        }

        foreach ((OpcUaMonitoredItem trigger, OpcUaMonitoredItem[] triggered) in TriggersOf(items))
        {
            await link.CallAsync<SetTriggeringRequest, SetTriggeringResponse>(
                TriggeringRequest(trigger, triggered, []), "SetTriggering", cancellationToken).ConfigureAwait(false);
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
