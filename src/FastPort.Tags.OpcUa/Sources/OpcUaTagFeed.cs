using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// A feed: an OPC UA subscription. The task that receives its messages reports their changes. Each message confirms all values, so the
/// server sends one in each interval, even without changes.
/// </summary>
internal sealed class OpcUaTagFeed : IOpcUaFeed
{
    private const uint MaxQueueSize = 100;

    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan ShortestSilence = TimeSpan.FromMilliseconds(50);

    private readonly OpcUaSubscription _subscription;
    private readonly ITagFeedListener _listener;
    private readonly OpcUaTagSource _source;

    private readonly TaskCompletionSource<TagStatus> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();

    // By tag, under the gate: the tags may be listed again at any time. Other calls of the members do not overlap.
    private readonly Dictionary<int, OpcUaMonitoredItem> _items = [];

    // Items that the server may still have, and whose changes are not reported. Replaced as a whole.
    private volatile HashSet<OpcUaMonitoredItem> _unwanted = [];

    // Of the task that receives.
    private readonly TagSamples _samples = new();
    private readonly List<int> _changed = [];

    private OpcUaTagFeed(OpcUaSubscription subscription, ITagFeedListener listener, OpcUaTagSource source)
    {
        _subscription = subscription;
        _listener = listener;
        _source = source;
        subscription.Reported += OnReported;
        subscription.ValuesLost += OnValuesLost;
        _ = EndWithSubscriptionAsync();
    }

    public TimeSpan Interval => _subscription.PublishingInterval;

    public bool ConfirmsValues => true;

    public Task<TagStatus> Ended => _ended.Task;

    // The server may sample less often than it was asked to. It publishes the last sample.
    public TimeSpan AgeOf(int tag)
    {
        lock (_gate)
        {
            return _items.TryGetValue(tag, out OpcUaMonitoredItem? item) && item.SamplingInterval > Interval
                ? item.SamplingInterval - Interval
                : TimeSpan.Zero;
        }
    }

    public static async Task<OpcUaTagFeed> OpenAsync(
        OpcUaClient client, TimeSpan interval, ITagFeedListener listener, OpcUaTagSource source, CancellationToken cancellationToken) =>
        new(await client.SubscribeAsync(Terms(interval), cancellationToken).ConfigureAwait(false), listener, source);

    /// <summary>The terms of a feed's subscription, for any stack.</summary>
    public static SubscriptionOptions Terms(TimeSpan interval)
    {
        uint silence = (uint)Math.Max(1, Math.Ceiling(ShortestSilence / interval));
        return new SubscriptionOptions
        {
            PublishingInterval = interval,
            KeepAliveCount = silence,
            LifetimeCount = (uint)Math.Max(3 * silence, Math.Min(Lifetime / interval, uint.MaxValue)),
            Capacity = int.MaxValue,
        };
    }

    /// <summary>The monitored item of a tag, for any stack.</summary>
    public static MonitoredItemOptions ItemOf(int tag, OpcUaTagSource source, OpcUaTags known, TimeSpan interval)
    {
        OpcUaPart part = source.Parts.Find(tag);
        OpcUaTagGroupOptions? group = known.All[part.Tag].Group;
        TimeSpan sampling = group?.SamplingInterval is { Ticks: > 0 } given ? given : interval;
        return new MonitoredItemOptions(known.Nodes[part.Tag])
        {
            IndexRange = part.Range,
            SamplingInterval = sampling,
            QueueSize = (uint)Math.Clamp(Math.Ceiling(interval / sampling), 1, MaxQueueSize),
            Deadband = known.All[part.Tag].Filter,
            Tag = tag,
        };
    }

    /// <summary>Whether an item reports another node than that of its tag now, or with another deadband.</summary>
    public static bool HasMoved(MonitoredItemOptions item, OpcUaTagSource source, OpcUaTags tags) =>
        source.Parts.Find((int)item.Tag!).Tag is var tag && (item.Node != tags.Nodes[tag] || item.Deadband != tags.All[tag].Filter);

    public async ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        OpcUaTags known = _source.Connected
            ?? throw new TagException(TagStatus.BadNoCommunication, $"Endpoint {_source.Name} is not connected.");
        Dictionary<int, OpcUaMonitoredItem> asked;
        try
        {
            await RemoveAsync([], cancellationToken).ConfigureAwait(false);
            MonitoredItemOptions[] missing = [.. Missing(tags).Select(tag => ItemOf(tag, _source, known, Interval))];
            IReadOnlyList<OpcUaMonitoredItem> items =
                await _subscription.AddItemsAsync(missing, cancellationToken).ConfigureAwait(false);
            asked = items.ToDictionary(TagOf);
        }
        catch (Exception e) when (e is OpcUaException or OperationCanceledException)
        {
            // Some of several requests may have been answered: their items exist, and are not requested again.
            Keep([.. _subscription.Items.Except(_unwanted)], known);
            if (e is OpcUaException failure)
            {
                throw new TagException(_source.Failure(failure), e.Message);
            }

            throw;
        }

        Keep(asked.Values.Where(static item => !item.Status.IsBad), known);
        lock (_gate)
        {
            for (int i = 0; i < tags.Count; i++)
            {
                statuses.Span[i] = new TagStatus((asked.GetValueOrDefault(tags[i]) ?? _items[tags[i]]).Status.Value);
            }
        }
    }

    public async ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
    {
        HashSet<OpcUaMonitoredItem> items = [.. _unwanted];
        lock (_gate)
        {
            foreach (int tag in tags)
            {
                if (_items.Remove(tag, out OpcUaMonitoredItem? item))
                {
                    items.Add(item);
                }
            }
        }

        if (items.Count != 0)
        {
            // If the server does not answer, they are removed with the next change.
            _unwanted = items;
            try
            {
                await _subscription.RemoveItemsAsync([.. items], cancellationToken).ConfigureAwait(false);
                _unwanted = [];
            }
            catch (OpcUaException e)
            {
                throw new TagException(_source.Failure(e), e.Message);
            }
        }
    }

    public ValueTask DisposeAsync()
    {
        _subscription.Reported -= OnReported;
        _subscription.ValuesLost -= OnValuesLost;
        _source.Forget(this);
        return _subscription.DisposeAsync();
    }

    public void EndIfMoved(OpcUaTags tags)
    {
        lock (_gate)
        {
            if (_items.Values.Any(item => HasMoved(item.Options, _source, tags)))
            {
                _ended.TrySetResult(TagStatus.BadNoCommunication);
            }
        }
    }

    public void TellAppeared() => _listener.OnTagsAppeared();

    private static int TagOf(OpcUaMonitoredItem item) => (int)item.Options.Tag!;

    private int[] Missing(IReadOnlyList<int> tags)
    {
        lock (_gate)
        {
            return [.. tags.Except(_items.Keys)];
        }
    }

    // The nodes may have changed since the items were requested.
    private void Keep(IEnumerable<OpcUaMonitoredItem> accepted, OpcUaTags known)
    {
        lock (_gate)
        {
            foreach (OpcUaMonitoredItem item in accepted)
            {
                _items[TagOf(item)] = item;
            }
        }

        if (_source.Known is var now && now != known)
        {
            EndIfMoved(now);
        }
    }

    // When the subscription has ended permanently: the server refuses to recreate it, or another client has taken it.
    private async Task EndWithSubscriptionAsync()
    {
        try
        {
            await _subscription.Changes.Completion.ConfigureAwait(false);
            _ended.TrySetResult(TagStatus.BadNoCommunication);
        }
        catch (Exception e)
        {
            _ended.TrySetResult(
                e is OpcUaException { Status.IsBad: true } end ? new TagStatus(end.Status.Value) : TagStatus.BadNoCommunication);
        }
    }

    // The current values are read: they may have changed unnoticed.
    private void OnValuesLost(OpcUaSubscription subscription, StatusCode why) => _listener.OnValuesLost();

    private void OnReported(OpcUaSubscription subscription)
    {
        _samples.Clear();
        _changed.Clear();
        HashSet<OpcUaMonitoredItem> unwanted = _unwanted;
        bool isRefused = false;
        while (subscription.Changes.TryRead(out DataChange change))
        {
            if (!unwanted.Contains(change.Item))
            {
                // A refused item reports its own status as its value. A value that arrives before the server's answer has a different
                // status.
                isRefused |= change.Item.Status.IsBad && change.Item.Status == change.Value.Status;
                _changed.Add(TagOf(change.Item));
                TagValues.Add(_samples, change.Value);
            }
        }

        if (isRefused)
        {
            // The server has refused items of a recreated subscription. The next feed asks for its tags and gets their statuses.
            _ended.TrySetResult(TagStatus.BadNoCommunication);
        }

        // After a restart a node id may be that of another tag, until the tags are listed again. All values are read then.
        if (_ended.Task.IsCompleted || _source.MustLoad)
        {
            return;
        }

        _listener.OnChanges(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_changed), _samples);
    }
}
