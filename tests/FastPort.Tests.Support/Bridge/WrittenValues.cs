using System.Collections.Concurrent;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tests.Support;

/// <summary>Every value that variables of an OPC UA server have had, in order: what was written, and how often.</summary>
internal sealed class WrittenValues : IAsyncDisposable
{
    private readonly OpcUaClient _client;
    private readonly OpcUaSubscription _subscription;
    private readonly ConcurrentDictionary<NodeId, ConcurrentQueue<int>> _values = [];
    private readonly Task _reading;
    private int _overflows;

    private WrittenValues(OpcUaClient client, OpcUaSubscription subscription)
    {
        _client = client;
        _subscription = subscription;
        _reading = ReadAsync();
    }

    /// <summary>How often the server's queue was too short. Must be none for the values to be all.</summary>
    public int Overflows => Volatile.Read(ref _overflows);

    public static async Task<WrittenValues> StartAsync(string url, IEnumerable<NodeId> nodes)
    {
        OpcUaClient client = await OpcUaClient.ConnectAsync(url);
        OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(20), Capacity = int.MaxValue });
        var values = new WrittenValues(client, subscription);
        await subscription.AddItemsAsync(
            [.. nodes.Select(static node => new MonitoredItemOptions(node) { SamplingInterval = TimeSpan.Zero, QueueSize = 10_000 })]);
        return values;
    }

    /// <summary>The values of a variable, when it has had one.</summary>
    public async Task<int[]> UntilAsync(NodeId node, int value)
    {
        await Patience.UntilAsync(
            () => _values.TryGetValue(node, out ConcurrentQueue<int>? had) && had.Contains(value), $"{node} is {value}");
        return [.. _values[node]];
    }

    public async ValueTask DisposeAsync()
    {
        await _subscription.DisposeAsync();
        await _client.DisposeAsync();
        await _reading;
    }

    private async Task ReadAsync()
    {
        // Bits of a DataValue's status: InfoType DataValue with Overflow (OPC 10000-4, 7.39.1).
        const uint Overflow = 0x480;
        await foreach (DataChange change in _subscription.Changes.ReadAllAsync())
        {
            if ((change.Value.Status.Value & Overflow) == Overflow)
            {
                Interlocked.Increment(ref _overflows);
            }

            _values.GetOrAdd(change.Item.Options.Node, static _ => []).Enqueue(change.Value.Value.Get<int>());
        }
    }
}
