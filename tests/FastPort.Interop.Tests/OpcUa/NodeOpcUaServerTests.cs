using System.Globalization;
using FastPort.Interop.Tests.Peers;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>Our client against node-opcua's server. One server for all: it takes seconds to start.</summary>
public sealed class NodeOpcUaServerTests
{
    [NodeFact]
    public async Task Our_client_browses_reads_writes_and_calls()
    {
        using var node = NodeProcess.Start("opcua/server.mjs");
        Started started = await node.ReadLineAsync<Started>();
        await using OpcUaClient client = await OpcUaClient.ConnectAsync($"opc.tcp://127.0.0.1:{started.Port}");
        NodeId Id(uint number) => new(started.Namespace, number);

        NodeId[] ids = [.. Enumerable.Range(1000, 2000).Select(i => Id((uint)i))];
        HashSet<NodeId> tree = await BrowseTreeAsync(client);
        NodeId[] known = [.. ids, Id(90_000), Id(90_001), new(0, 2253), new(0, 58), new(0, 31)];
        Assert.Empty(known.Except(tree));
        Assert.InRange(tree.Count, 4000, 100_000);

        // Its server reads 500 and writes 150 at a time.
        DataValue[] values = await client.ReadAsync(ids);
        Assert.All(values.Index(), static v => Assert.Equal(
            v.Index < 1000 ? (object)v.Index : v.Index < 1800 ? v.Index / 2.0 : $"tag-value-{v.Index}", v.Item.Value.ToObject()));

        StatusCode[] statuses = await client.WriteAsync([.. ids.Take(400).Select(static id => KeyValuePair.Create(id, (Variant)(-5)))]);
        Assert.All(statuses, static s => Assert.Equal(StatusCodes.Good, s));
        Assert.Equal(-5, (await client.ReadAsync([ids[399]]))[0].Value.Get<int>());
        Assert.Equal(StatusCodes.BadTypeMismatch, Assert.Single(await client.WriteAsync([new(ids[0], "x")])));

        MethodCallResult sum = await client.CallAsync(Id(90_000), Id(90_001), [2, 40]);
        Assert.Equal((StatusCodes.Good, 42), (sum.Status, sum.Outputs[0].Get<int>()));

        await ConnectSecuredAsync($"opc.tcp://127.0.0.1:{started.Port}", ids[..10]);
    }

    [NodeFact]
    public async Task Our_client_subscribes_and_finds_its_subscription_again()
    {
        using var node = NodeProcess.Start("opcua/server.mjs");
        Started started = await node.ReadLineAsync<Started>();
        string url = $"opc.tcp://127.0.0.1:{started.Port}";
        NodeId Id(uint number) => new(started.Namespace, number);
        await using var relay = new TcpRelay(started.Port);
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(relay.Url);
        await using OpcUaClient writer = await OpcUaClient.ConnectAsync(url);

        Assert.NotEmpty(await OpcUaClient.FindServersAsync(url));
        Assert.Contains(await OpcUaClient.GetEndpointsAsync(url), static e => e.SecurityMode == MessageSecurityMode.SignAndEncrypt);
        TranslatedPath[] paths = await client.TranslateBrowsePathsAsync(
            new NodeId(0, 85), [[new(started.Namespace, "Simulation"), new(started.Namespace, "v7")]]);
        Assert.Equal(Id(1007), Assert.Single(paths).Target.NodeId);

        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(50) });
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
        [
            Item(Id(1000)),
            Item(Id(2000)) with { Deadband = Deadband.Absolute(5) },
            Item(Id(5000)) with { Deadband = Deadband.Percent(10) },
            Item(Id(9999)),
        ]);
        Assert.Equal(
            [StatusCodes.Good, StatusCodes.Good, StatusCodes.Good, StatusCodes.BadNodeIdUnknown], items.Select(static i => i.Status));
        Assert.Equal([0, 0.0, 500.0], (await ReadAsync(subscription, 3)).Select(Number).Order());

        // Of the Doubles only changes of more than 5, and of more than a tenth of 200, are reported. The server samples, so each value
        // stays until one of the first item, written after it, has come.
        List<DataChange> changes = [];
        double[] levels = [503, 506, 509, 512];
        double[] analog = [19, 21, 40, 25];
        for (int i = 0; i < levels.Length; i++)
        {
            await WriteAsync(writer, Id(2000), levels[i]);
            await WriteAsync(writer, Id(5000), analog[i]);
            await WriteAsync(writer, Id(1000), 100 + i);
            while (!Of(changes, items[0]).Contains(100 + i))
            {
                changes.AddRange(await ReadAsync(subscription, 1));
            }
        }

        while (changes.Count < 7)
        {
            changes.AddRange(await ReadAsync(subscription, 1));
        }

        Assert.Equal([506.0, 512.0], Of(changes, items[1]));
        Assert.Equal([21.0], Of(changes, items[2]));
        Assert.Equal([100.0, 101.0, 102.0, 103.0], Of(changes, items[0]));

        Assert.Equal([StatusCodes.Good], await subscription.RemoveItemsAsync([items[1]]));
        Assert.Equal([StatusCodes.Good], await subscription.SetMonitoringModeAsync([items[2]], MonitoringMode.Disabled));

        // The connection breaks: the server has kept the session, and what has changed meanwhile comes. When a session is activated this
        // server repeats the latest value that an item has reported, and for a tenth of a second that may be the one before.
        Task<SessionRecovery> back = BackAsync(client);
        var written = new TaskCompletionSource();
        relay.Admission = written.Task;
        relay.Cut();
        await WriteAsync(writer, Id(1000), 200);
        written.SetResult();
        Assert.Equal(SessionRecovery.Resumed, await back.WaitAsync(NodeProcess.Limit));
        List<double> since = [];
        while (!since.Contains(200))
        {
            since.AddRange(Of(await ReadAsync(subscription, 1), items[0]));
        }

        Assert.Empty(since.Except([103.0, 200.0]));
    }

    [NodeFact]
    public async Task Our_client_goes_on_when_the_server_restarts()
    {
        var node = NodeProcess.Start("opcua/server.mjs");
        Started started = await node.ReadLineAsync<Started>();
        NodeId id = new(started.Namespace, 1007);
        await using OpcUaClient client = await OpcUaClient.ConnectAsync($"opc.tcp://127.0.0.1:{started.Port}");
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(50) });
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([Item(id)]));
        Assert.Equal([7.0], Of(await ReadAsync(subscription, 1), item));
        Task<SessionRecovery> back = BackAsync(client);

        node.Dispose();
        using var next = NodeProcess.Start("opcua/server.mjs", $"{started.Port}");
        await next.ReadLineAsync<Started>();

        Assert.Equal(SessionRecovery.Replaced, await back.WaitAsync(NodeProcess.Limit));
        Assert.Equal([7.0], Of(await ReadAsync(subscription, 1), item));
        await WriteAsync(client, id, 8);
        Assert.Equal([8.0], Of(await ReadAsync(subscription, 1), item));
    }

    // Every node below Root.
    private static async Task<HashSet<NodeId>> BrowseTreeAsync(OpcUaClient client)
    {
        var root = new NodeId(0, 84);
        HashSet<NodeId> found = [root];
        for (NodeId[] level = [root]; level.Length != 0;)
        {
            BrowsedNode[] browsed = await client.BrowseAsync(level);
            level = [.. browsed.SelectMany(static one => one.References).Select(static one => one.NodeId.NodeId).Where(found.Add)];
        }

        return found;
    }

    private static MonitoredItemOptions Item(NodeId id) => new(id) { SamplingInterval = TimeSpan.Zero, QueueSize = 100 };

    private static double Number(DataChange change) => Convert.ToDouble(change.Value.Value.ToObject(), CultureInfo.InvariantCulture);

    private static IEnumerable<double> Of(IEnumerable<DataChange> changes, OpcUaMonitoredItem item) =>
        changes.Where(change => change.Item == item).Select(Number);

    private static async Task WriteAsync(OpcUaClient client, NodeId id, Variant value) =>
        Assert.Equal(StatusCodes.Good, Assert.Single(await client.WriteAsync([new(id, value)])));

    private static async Task<DataChange[]> ReadAsync(OpcUaSubscription subscription, int count)
    {
        using var limit = new CancellationTokenSource(NodeProcess.Limit);
        List<DataChange> changes = [];
        try
        {
            while (changes.Count < count)
            {
                changes.Add(await subscription.Changes.ReadAsync(limit.Token));
            }
        }
        catch (OperationCanceledException)
        {
            Assert.Fail($"Of {count} changes only these came: {string.Join(", ", changes)}.");
        }

        return [.. changes];
    }

    private static Task<SessionRecovery> BackAsync(OpcUaClient client)
    {
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += recovery => back.TrySetResult(recovery);
        return back.Task;
    }

    private static async Task ConnectSecuredAsync(string url, NodeId[] ids)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        foreach (OpcUaSecurityPolicy policy in Enum.GetValues<OpcUaSecurityPolicy>()[1..])
        {
            foreach (MessageSecurityMode mode in (MessageSecurityMode[])[MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt])
            {
                var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode };
                options.Certificates.Directory = folder;
                options.Certificates.UnsafeTrustAll = true;
                await using OpcUaClient client = await OpcUaClient.ConnectAsync(url, options);
                Assert.All(await client.ReadAsync(ids), static v => Assert.Equal(StatusCodes.Good, v.Status));
            }
        }

        Directory.Delete(folder, recursive: true);
    }

    private sealed record Started(int Port, ushort Namespace);
}
