using FastPort.OpcBridge.Configuration;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Sources;

namespace FastPort.OpcBridge.Sources;

/// <summary>
/// A feed: an OPC UA subscription. The task that receives its messages reports their changes. Each message confirms all values, so the
/// server is asked for one in each interval, changes or not.
/// </summary>
internal sealed class OpcUaTagFeed : ITagFeed
{
    private const uint MaxQueueSize = 100;

    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan ShortestSilence = TimeSpan.FromMilliseconds(50);

    private readonly OpcUaSubscription _subscription;
    private readonly ITagFeedListener _listener;
    private readonly OpcUaTagSource _source;

    // By tag. Calls of the members do not overlap.
    private readonly Dictionary<int, OpcUaMonitoredItem> _items = [];

    // Of the task that receives.
    private readonly TagSamples _samples = new();
    private readonly List<int> _changed = [];

    private OpcUaTagFeed(OpcUaSubscription subscription, ITagFeedListener listener, OpcUaTagSource source)
    {
        _subscription = subscription;
        _listener = listener;
        _source = source;
        subscription.Reported += OnReported;
    }

    public TimeSpan Interval => _subscription.PublishingInterval;

    public bool ConfirmsValues => true;

    public static async Task<OpcUaTagFeed> OpenAsync(
        OpcUaClient client, TimeSpan interval, ITagFeedListener listener, OpcUaTagSource source, CancellationToken cancellationToken)
    {
        uint silence = (uint)Math.Max(1, Math.Ceiling(ShortestSilence / interval));
        OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions
            {
                PublishingInterval = interval,
                KeepAliveCount = silence,
                LifetimeCount = (uint)Math.Max(3 * silence, Math.Min(Lifetime / interval, uint.MaxValue)),
                Capacity = int.MaxValue,
            },
            cancellationToken).ConfigureAwait(false);
        return new OpcUaTagFeed(subscription, listener, source);
    }

    public async ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        OpcUaTags known = _source.Connected
            ?? throw new TagException(TagStatus.BadNoCommunication, $"Endpoint {_source.Name} is not connected.");
        IReadOnlyList<OpcUaMonitoredItem> items;
        try
        {
            items = await _subscription.AddItemsAsync([.. tags.Select(tag => ItemOf(tag, known))], cancellationToken).ConfigureAwait(false);
        }
        catch (OpcUaException e)
        {
            throw new TagException(_source.Failure(e), e.Message);
        }

        for (int i = 0; i < items.Count; i++)
        {
            statuses.Span[i] = new TagStatus(items[i].Status.Value);
            if (!items[i].Status.IsBad)
            {
                _items[tags[i]] = items[i];
            }
        }
    }

    public async ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
    {
        List<OpcUaMonitoredItem> items = [];
        foreach (int tag in tags)
        {
            if (_items.Remove(tag, out OpcUaMonitoredItem? item))
            {
                items.Add(item);
            }
        }

        if (items.Count != 0)
        {
            try
            {
                await _subscription.RemoveItemsAsync(items, cancellationToken).ConfigureAwait(false);
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
        return _subscription.DisposeAsync();
    }

    private MonitoredItemOptions ItemOf(int tag, OpcUaTags known)
    {
        OpcUaPart part = _source.Parts.Find(tag);
        GroupOptions? group = known.All[part.Tag].Group;
        TimeSpan sampling = group?.SamplingInterval is { Ticks: > 0 } given ? given : Interval;
        return new MonitoredItemOptions(known.Nodes[part.Tag])
        {
            IndexRange = part.Range,
            SamplingInterval = sampling,
            QueueSize = (uint)Math.Clamp(Math.Ceiling(Interval / sampling), 1, MaxQueueSize),
            Deadband = group?.Filter ?? Deadband.None,
            Tag = tag,
        };
    }

    private void OnReported(OpcUaSubscription subscription)
    {
        _samples.Clear();
        _changed.Clear();
        while (subscription.Changes.TryRead(out DataChange change))
        {
            _changed.Add((int)change.Item.Options.Tag!);
            TagValues.Add(_samples, change.Value);
        }

        _listener.OnChanges(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_changed), _samples);
    }
}
