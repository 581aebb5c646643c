using System.Diagnostics;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Telemetry;

namespace OpcUaPeer.Items;

/// <summary>
/// Sessions, each with a subscription to variables of its own. Every item must see each of its variable's values, in order, and after a run
/// each that the server had made by then: the changes of a run are those.
/// </summary>
internal sealed class ItemClient(string endpoint, int sessions, int itemsEach, TimeSpan publishingInterval, int serverId)
{
    private const int ConnectingAtOnce = 16;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly Delays _delays = new();
    private readonly long[] _seen = new long[sessions * itemsEach];
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public async Task RunAsync()
    {
        var clients = new OpcUaClient[sessions];
        Array.Fill(_seen, -1);
        try
        {
            var parallel = new ParallelOptions { MaxDegreeOfParallelism = ConnectingAtOnce };
            await Parallel.ForAsync(0, sessions, parallel, async (i, cancellation) =>
            {
                var options = new OpcUaClientOptions { Reconnect = false, Loops = 1 };
                clients[i] = await OpcUaClient.ConnectAsync(endpoint, options, cancellationToken: cancellation);
                await WatchAsync(clients[i], i * itemsEach);
            });
            await RunLines.AnswerAsync(async (leadIn, seconds) =>
            {
                await WaitAsync(leadIn);
                return await MeasureAsync(clients[0], seconds);
            });
        }
        finally
        {
            await Task.WhenAll(clients.Select(static client => client?.DisposeAsync().AsTask() ?? Task.CompletedTask));
        }
    }

    private async Task WatchAsync(OpcUaClient client, int first)
    {
        OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = publishingInterval });
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [
                .. Enumerable.Range(first, itemsEach).Select(i => new MonitoredItemOptions(Id(i))
                {
                    SamplingInterval = TimeSpan.Zero, QueueSize = 10, Tag = i,
                }),
            ]);
        if (items.Any(static item => item.Status.IsBad))
        {
            throw new PeerException($"{items.Count(static item => item.Status.IsBad)} variables cannot be monitored.");
        }

        _ = ReadAsync(subscription);

        NodeId Id(int item) => client.Namespaces.MakeId(ItemServer.NamespaceUri, (uint)item);
    }

    private async Task ReadAsync(OpcUaSubscription subscription)
    {
        try
        {
            await foreach (DataChange change in subscription.Changes.ReadAllAsync())
            {
                Take((int)change.Item.Options.Tag!, change.Value);
            }
        }
        catch (Exception e)
        {
            _failed.TrySetException(e);
        }
    }

    private void Take(int item, in DataValue value)
    {
        if (!value.Status.IsGood || !value.Value.TryGet(out long number))
        {
            throw new PeerException($"Item {item} got {value}.");
        }

        // The first is whatever it was when the item was made.
        if (_seen[item] >= 0 && number != _seen[item] + 1)
        {
            throw new PeerException($"Item {item} got {number} after {_seen[item]}.");
        }

        Volatile.Write(ref _seen[item], number);
        _delays.Record(DateTime.UtcNow - value.SourceTimestamp);
    }

    private async Task<string> MeasureAsync(OpcUaClient client, double seconds)
    {
        _delays.Reset();
        var usage = ProcessUsage.Read(serverId);
        long before = await ReadChangesAsync(client);
        long begun = Stopwatch.GetTimestamp();
        await WaitAsync(seconds);
        long made = await ReadChangesAsync(client);
        double elapsed = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        LatencySnapshot delays = _delays.Snapshot();
        usage = ProcessUsage.Read(serverId).Since(usage);
        await ReceiveAsync(made);
        return new LoadFigures(delays, elapsed, usage, serverId) { Messages = made - before }.ToLine();
    }

    private static async Task<long> ReadChangesAsync(OpcUaClient client)
    {
        NodeId changes = client.Namespaces.MakeId(ItemServer.NamespaceUri, ItemServer.Changes);
        return (await client.ReadAsync([changes]))[0].Value.Get<long>();
    }

    // Until each of the server's first changes has come. An item that has seen one has seen those before it.
    private async Task ReceiveAsync(long changes)
    {
        long begun = Stopwatch.GetTimestamp();
        while (Enumerable.Range(0, _seen.Length).Count(item => Lacks(item, changes)) is var late and > 0)
        {
            if (Stopwatch.GetElapsedTime(begun) > Patience)
            {
                throw new PeerException($"The server has made {changes} changes, and {late} items have not seen all of theirs.");
            }

            await WaitAsync(0.1);
        }
    }

    private bool Lacks(int item, long changes) =>
        Volatile.Read(ref _seen[item]) < ItemServer.ChangesOf(item, changes, _seen.Length);

    private async Task WaitAsync(double seconds)
    {
        Task wait = Task.Delay(TimeSpan.FromSeconds(seconds));
        await await Task.WhenAny(wait, _failed.Task);
    }

    /// <summary>Delays from a change to its arrival. Thread-safe.</summary>
    private sealed class Delays
    {
        private readonly Lock _gate = new();
        private readonly LatencyHistogram _histogram = new();

        public void Record(TimeSpan delay)
        {
            lock (_gate)
            {
                _histogram.Record(Math.Max(0, (long)delay.TotalNanoseconds));
            }
        }

        public void Reset()
        {
            lock (_gate)
            {
                _histogram.Reset();
            }
        }

        public LatencySnapshot Snapshot()
        {
            lock (_gate)
            {
                return _histogram.Snapshot();
            }
        }
    }
}
