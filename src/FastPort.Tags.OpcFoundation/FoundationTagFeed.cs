using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Opc.Ua.Client.Subscriptions;
using Opc.Ua.Client.Subscriptions.MonitoredItems;
using static Opc.Ua.Client.ManagedSessionExtensions;
using static Opc.Ua.DataChangeTrigger;
using Asked = FastPort.OpcUa.Client.MonitoredItemOptions;

namespace FastPort.Tags.OpcFoundation;

/// <summary>
/// A feed: a subscription, which ends with its connection, as node ids may differ in the next one. The server sends a message in each
/// interval, even without changes, so each confirms all values.
/// </summary>
internal sealed class FoundationTagFeed(FoundationLink link, OpcUaTagSource source, ITagFeedListener listener)
    : IOpcUaFeed, ISubscriptionNotificationHandler
{
    private readonly TaskCompletionSource<TagStatus> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // By tag; read by the task that receives.
    private readonly ConcurrentDictionary<int, (IMonitoredItem Item, Asked Asked)> _items = [];
    private readonly TagSamples _samples = new();
    private readonly List<int> _changed = [];
    private ISubscription _subscription = null!;
    private long _missing;
    private int _names;

    public TimeSpan Interval => _subscription.CurrentPublishingInterval;

    public bool ConfirmsValues => true;

    public Task<TagStatus> Ended => _ended.Task;

    public TimeSpan AgeOf(int tag) => _items.GetValueOrDefault(tag).Item is { } item && item.CurrentSamplingInterval > Interval
        ? item.CurrentSamplingInterval - Interval
        : TimeSpan.Zero;

    public Task OpenAsync(TimeSpan interval, CancellationToken cancellationToken)
    {
        Own.Client.SubscriptionOptions terms = OpcUaTagFeed.Terms(interval);
        _subscription = link.Session.AddSubscription(this, new SubscriptionOptions
        {
            PublishingInterval = interval,
            PublishingEnabled = true,
            KeepAliveCount = terms.KeepAliveCount,
            LifetimeCount = terms.LifetimeCount,
            DisableUnboundedItemMode = true,
        });
        link.Disconnected += End;
        return UntilAsync(() => _subscription.Created, cancellationToken);
    }

    public async ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        OpcUaTags known = source.Connected ?? throw NotConnected();
        foreach (Asked asked in tags.Except(_items.Keys).Select(tag => OpcUaTagFeed.ItemOf(tag, source, known, Interval)))
        {
            var options = new MonitoredItemOptions
            {
                StartNodeId = link.NodeOf(asked.Node),
                IndexRange = asked.IndexRange,
                Order = (uint)(int)asked.Tag!,
                SamplingInterval = asked.SamplingInterval ?? Interval,
                QueueSize = asked.QueueSize,
                Filter = asked.Deadband is not { Value: > 0 } deadband ? null
                    : new DataChangeFilter { Trigger = StatusValue, DeadbandType = deadband.Type, DeadbandValue = deadband.Value },
            };
            if (!asked.Node.IsNull && _subscription.TryAddMonitoredItem($"{_names++}", options, out IMonitoredItem? item))
            {
                _items[(int)asked.Tag!] = (item!, asked);
            }
        }

        IMonitoredItem?[] items = [.. tags.Select(tag => _items.GetValueOrDefault(tag).Item)];
        await UntilAsync(() => Array.TrueForAll(items, IsDone), cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < items.Length; i++)
        {
            statuses.Span[i] = items[i] is not { } item ? TagStatus.BadNodeIdUnknown
                : item.Created ? TagStatus.Good
                : new TagStatus(item.Error.StatusCode.Code);
        }

        await RemoveAsync([.. tags.Where((_, i) => items[i]?.Created == false)], cancellationToken).ConfigureAwait(false);
    }

    public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
    {
        foreach (int tag in tags)
        {
            _ = _items.TryRemove(tag, out (IMonitoredItem Item, Asked) one)
                && _subscription.MonitoredItems.TryRemove(one.Item.ClientHandle);
        }

        return default;
    }

    public async ValueTask DisposeAsync()
    {
        // The server ends the subscription of a lost connection by itself: the stack would wait for its answer.
        bool isLost = !_ended.TrySetResult(TagStatus.BadNoCommunication);
        link.Disconnected -= End;
        source.Forget(this);
        Task closing = _subscription.DisposeAsync().AsTask();
        await (isLost ? Task.CompletedTask : closing).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public void EndIfMoved(OpcUaTags tags) => EndIf(_items.Values.Any(one => OpcUaTagFeed.HasMoved(one.Asked, source, tags)));

    public void TellAppeared() => listener.OnTagsAppeared();

    public ValueTask OnDataChangeNotificationAsync(
        ISubscription subscription, uint sequenceNumber, DateTime publishTime, ReadOnlyMemory<DataValueChange> notification,
        PublishState publishStateMask, IReadOnlyList<string> stringTable)
    {
        _samples.Clear();
        _changed.Clear();
        foreach (ref readonly DataValueChange change in notification.Span)
        {
            // Removed items may still report.
            if (change.MonitoredItem is { } item && _items.GetValueOrDefault((int)item.Order).Item == item)
            {
                _changed.Add((int)item.Order);
                TagValues.Add(_samples, change.Value.ToOwn(link.Session.MessageContext));
            }
        }

        if (!_ended.Task.IsCompleted && !source.MustLoad)
        {
            listener.OnChanges(CollectionsMarshal.AsSpan(_changed), _samples);
        }

        if (Interlocked.Exchange(ref _missing, subscription.MissingMessageCount) != subscription.MissingMessageCount)
        {
            listener.OnValuesLost();
        }

        return default;
    }

    public ValueTask OnKeepAliveNotificationAsync(
        ISubscription subscription, uint sequenceNumber, DateTime publishTime, PublishState publishStateMask) =>
        OnDataChangeNotificationAsync(subscription, sequenceNumber, publishTime, default, publishStateMask, []);

    public ValueTask OnEventDataNotificationAsync(
        ISubscription subscription, uint sequenceNumber, DateTime publishTime, ReadOnlyMemory<EventNotification> notification,
        PublishState publishStateMask, IReadOnlyList<string> stringTable) => default;

    public ValueTask OnSubscriptionStateChangedAsync(
        ISubscription subscription, SubscriptionState state, PublishState publishStateMask, CancellationToken ct = default)
    {
        EndIf((publishStateMask & (PublishState.Timeout | PublishState.Transferred)) != 0);
        return default;
    }

    private static bool IsDone(IMonitoredItem? item) => item?.Created != false || ServiceResult.IsBad(item.Error);

    private TagException NotConnected() => new(TagStatus.BadNoCommunication, $"Endpoint {source.Name} is not connected.");

    private void End() => EndIf(true);

    private void EndIf(bool isEnd) => _ = isEnd && _ended.TrySetResult(TagStatus.BadNoCommunication);

    // The stack creates subscriptions and items in the background, and does not signal the end of that.
    private async Task UntilAsync(Func<bool> isDone, CancellationToken cancellationToken)
    {
        while (!isDone())
        {
            await Task.Delay(2, cancellationToken).ConfigureAwait(false);
            _ = _ended.Task.IsCompleted ? throw NotConnected() : true;
        }
    }
}
