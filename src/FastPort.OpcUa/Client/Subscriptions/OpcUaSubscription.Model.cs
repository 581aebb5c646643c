using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Changes of the server's nodes, which it reports as events.</content>
public sealed partial class OpcUaSubscription
{
    /// <summary>
    /// The server has reported that nodes were added, deleted or changed. Raised once for each such message, after a call of
    /// <see cref="WatchModelAsync"/>. Raised by the receiving task; a handler must not block. Not raised for changes before
    /// <see cref="ValuesLost"/>.
    /// </summary>
    public event Action<OpcUaSubscription>? ModelChanged;

    /// <summary>
    /// Asks the server to report changes of its nodes (BaseModelChangeEventType and its subtypes, OPC 10000-3, 9.32). The request is
    /// repeated when the subscription is recreated. Many servers do not report such events, or report them for some nodes only.
    /// </summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>Good, or the reason why the server does not report them.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole.</exception>
    public async ValueTask<StatusCode> WatchModelAsync(CancellationToken cancellationToken = default)
    {
        if (_items.Values.FirstOrDefault(static item => item.IsKept && item.IsForEvents) is { } known)
        {
            return known.Status;
        }

        StatusCode status = await WatchAsync(EventSelection.ModelChanges).ConfigureAwait(false);

        // Some servers take no conditions.
        return status.IsBad ? await WatchAsync(EventSelection.All).ConfigureAwait(false) : status;

        async Task<StatusCode> WatchAsync(EventSelection events) =>
            (await AddItemsAsync([ModelChanges.ItemOf(events)], cancellationToken).ConfigureAwait(false))[0].Status;
    }

    private void Take(EventNotificationList list)
    {
        foreach (ref EventFieldList found in (list.Events ?? []).AsSpan())
        {
            if (_items.TryGetValue(found.ClientHandle, out OpcUaMonitoredItem? item) && item.IsForEvents
                && ModelChanges.IsOne(item.Options.Events, found))
            {
                _client.Raise(nameof(ModelChanged), ModelChanged, this, static (subscriber, subscription) => subscriber(subscription));
                return;
            }
        }
    }
}
