using System.Diagnostics;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>The bridge and OPC UA servers as processes that are killed under load.</summary>
public sealed class BridgeRestartTests(ITestOutputHelper output)
{
    private const int Tags = 8;
    private const int Restarts = 3;

    [Fact]
    public Task Each_tag_has_a_status_of_its_own() => BridgeScenarios.HasAStatusForEachTagAsync(SimulateAsync);

    [Fact]
    public Task All_goes_on_when_the_server_is_killed_and_restarted() =>
        BridgeScenarios.GoesOnWhenTheServerIsKilledAsync(SimulateAsync, output.WriteLine);

    [Fact]
    public Task A_stuck_server_is_told_and_all_goes_on_when_it_answers_again() =>
        BridgeScenarios.GoesOnWhenTheServerWasStuckAsync(SimulateAsync);

    [Fact]
    public async Task A_bridge_that_is_killed_loses_nothing_that_was_acknowledged_and_clients_go_on_with_the_next_one()
    {
        string[] names = [.. Enumerable.Range(0, Tags).Select(static i => $"plant/{i}")];
        await using var server = new OpcUaPeer(Build);
        await server.StartAsync();
        await using WrittenValues written = await WrittenValues.StartAsync(server.Url, Enumerable.Range(0, Tags).Select(Id));
        using var port = new HeldPort();
        string endpoint = $"tcp://127.0.0.1:{port.Number}";
        BridgeProcess bridge = StartBridge(endpoint, server.Url);
        Assert.Equal(endpoint, await bridge.ListeningAsync());
        await using TagClient client = await TagClient.ConnectAsync(endpoint);
        await using TagWatch watch = await TagWatch.StartAsync(client, names);
        await using var load = new TagLoad(client, names);
        for (int i = 0; i < Restarts; i++)
        {
            await load.UntilWrittenAsync(20);

            // Killed, not asked to end.
            await bridge.DisposeAsync();
            await watch.UntilAsync(names[^1], TagStatus.BadNoCommunication);

            bridge = StartBridge(endpoint, server.Url);
            Assert.Equal(endpoint, await bridge.ListeningAsync());
            long since = Stopwatch.GetTimestamp();
            await load.UntilWrittenAsync(1);
            output.WriteLine($"written again {Stopwatch.GetElapsedTime(since).TotalMilliseconds:F0} ms after the bridge listened");
        }

        await using BridgeProcess last = bridge;
        await load.UntilWrittenAsync(20);
        await load.StopAsync();

        // Each value that was acknowledged has reached the server, none twice, and each in its order.
        foreach ((int i, TagLoad.Writer writer) in load.Writers.Index())
        {
            int[] had = await written.UntilAsync(Id(i), writer.Acknowledged[^1]);
            Assert.Equal(had.Distinct().Order(), had);
            Assert.Empty(writer.Acknowledged.Except(had));
            Assert.InRange(had.Length - 1, writer.Count, writer.Attempts);
            await watch.UntilAsync(writer.Name, TagStatus.Good, had[^1]);
            Assert.Equal(had[^1], (await client.ReadAsync(writer.Name)).Value);
        }

        Assert.Equal(0, written.Overflows);

        // A bridge that has waited for its server's tags for a moment listens, and knows none of them yet.
        Assert.Empty(load.WriteStatuses.Except([TagStatus.Good, TagStatus.BadNodeIdUnknown]));
    }

    [Fact]
    public async Task A_bridge_that_starts_before_its_server_serves_the_tags_when_it_is_there()
    {
        await using var server = new OpcUaPeer(Build);
        await server.StartAsync();
        await server.StopAsync();
        await using BridgeProcess bridge = StartBridge("tcp://127.0.0.1:0", server.Url);
        await using TagClient client = await TagClient.ConnectAsync(await bridge.ListeningAsync());
        await using TagWatch watch = await TagWatch.StartAsync(client, "plant/0");
        Assert.Equal([TagStatus.BadNodeIdUnknown], watch.Statuses);

        await server.StartAsync();
        long since = Stopwatch.GetTimestamp();
        await watch.UntilAsync("plant/0", TagStatus.Good, 0);
        output.WriteLine($"watched {Stopwatch.GetElapsedTime(since).TotalMilliseconds:F0} ms after the server listened");
        Assert.Equal(TagStatus.Good, await client.WriteAsync("plant/0", 1));
        await watch.UntilAsync("plant/0", TagStatus.Good, 1);
    }

    private static async Task<RunningServer> SimulateAsync(string? url)
    {
        BridgeProcess process = BridgeProcess.SimulateAt(url ?? "opc.tcp://127.0.0.1:0");
        return new RunningServer(await process.ListeningAsync(), "urn:fastport:simulation", process);
    }

    private static BridgeProcess StartBridge(string listen, string server) => BridgeProcess.Start(
        ["--listen", listen],
        ("OpcBridge__Endpoints__plant__EndpointUrl", server),
        ("OpcBridge__Endpoints__plant__AllowWrite", "true"),
        ("OpcBridge__Endpoints__plant__Below__0", $"nsu={Bridged.NamespaceUri};i=1"));

    private static NodeId Id(int tag) => new(2, 10 + (uint)tag);

    private static void Build(AddressSpace space)
    {
        ushort ns = space.AddNamespace(Bridged.NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        for (int i = 0; i < Tags; i++)
        {
            space.AddVariable(root, Id(i), new QualifiedName(ns, $"{i}"), 0, writable: true);
        }
    }
}
