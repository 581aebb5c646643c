using System.Buffers;
using System.Diagnostics;
using FastPort.Framing;
using FastPort.Redis.Tests.Support;
using FastPort.Routing;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>Sessions of all nodes, found, listed and closed from one.</summary>
public sealed class PeerTests
{
    [RedisFact]
    public async Task Pages_cover_the_sessions_of_all_nodes_in_order()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using Node c = await Node.StartAsync(redis, "c");
        await a.KnowsAsync(3);
        List<FastPortClient> clients = [];
        Node[] nodes = [a, b, c];
        for (int i = 0; i < 20; i++)
        {
            clients.Add(await nodes[i % 3].ConnectAsync($"id-{i:00}"));
        }

        List<PeerInfo> all = [];
        IReadOnlyList<PeerInfo> page;
        do
        {
            page = await clients[0].RequestAsync(
                ControlType.Peers,
                new PeersQueryBody("id-", 7, all.Count == 0 ? "" : all[^1].RoutingId),
                static (scoped in InboundReply reply) =>
                    PeerListBody.TryRead(reply.Body.ToArray(), out List<PeerInfo> peers) ? peers : throw new InvalidDataException());
            all.AddRange(page);
        }
        while (page.Count != 0);
        PeerInfo[] ofClient = await clients[1].ListPeersAsync("id-").ToArrayAsync();
        PeerInfo[] ofProgram = await b.Server.Routing.ListPeersAcrossNodesAsync("id-1", "id-15").ToArrayAsync();

        Assert.Equal(
            Enumerable.Range(0, 20).Select(i => ($"id-{i:00}", nodes[i % 3].Backplane.Node)),
            all.Select(static p => (p.RoutingId, p.Node)));
        Assert.Equal(all.Select(static p => (p.RoutingId, p.Node)), ofClient.Select(static p => (p.RoutingId, p.Node)));
        Assert.Equal(["id-16", "id-17", "id-18", "id-19"], ofProgram.Select(static p => p.RoutingId));
        await Task.WhenAll(clients.Select(static one => one.CloseAsync()));
    }

    [RedisFact]
    public async Task The_program_finds_and_closes_a_session_of_another_node()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient client = await b.ConnectAsync("machine-7");
        Session session = b.Server.Routing.Find("machine-7")!;

        PeerInfo? found = await a.Server.Routing.FindAcrossNodesAsync("machine-7");
        PeerInfo? own = await b.Server.Routing.FindAcrossNodesAsync("machine-7");
        bool closed = await a.Server.Routing.KickAcrossNodesAsync("machine-7", ErrorCode.Forbidden, "Out.");

        Assert.Equal(("machine-7", "b", session.Id), (found?.RoutingId, found?.Node, found?.SessionId));
        Assert.Equal("b", own?.Node);
        Assert.True(closed);
        CloseReason reason = await session.Closed.InTimeAsync();
        Assert.Contains("Out.", reason.ToString(), StringComparison.Ordinal);
        Assert.Null(await a.Server.Routing.FindAcrossNodesAsync("nobody"));
        Assert.False(await a.Server.Routing.KickAcrossNodesAsync("nobody", ErrorCode.Forbidden, "Out."));
    }

    /// <summary>One of the two waits for the other's renewal, which asks Redis for the owner and takes no time of the caller's.</summary>
    [RedisFact]
    public async Task Who_looks_for_a_session_while_the_node_leaves_finds_nobody()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        foreach (string id in (string[])["one", "two"])
        {
            await redis.RunAsync("SET", $"fastport:id:{id}", "0000000000001267:1");
        }

        await redis.RunAsync("CLIENT", "PAUSE", "60000", "WRITE");
        Task<PeerInfo?> one = a.Server.Routing.FindAcrossNodesAsync("one").AsTask();
        Task<bool> two = a.Server.Routing.KickAcrossNodesAsync("two", ErrorCode.Forbidden, "Out.").AsTask();
        Task leaving = a.Host.StopAsync(Patience.Token);
        await Task.WhenAny(one, two).InTimeAsync();
        await redis.RunAsync("CLIENT", "UNPAUSE");

        Assert.Null(await one.InTimeAsync());
        Assert.False(await two.InTimeAsync());
        await leaving.InTimeAsync();
    }

    [RedisFact]
    public async Task A_node_that_does_not_answer_is_left_out()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:Backplane:Lease", "00:00:20"));
        await using Node b = await Node.StartAsync(redis, "b", ("FastPort:Backplane:Lease", "00:00:20"));
        await using FastPortClient atA = await a.ConnectAsync("at-a");
        await using FastPortClient atB = await b.ConnectAsync("at-b");
        await b.Server.Routing.FindAcrossNodesAsync("at-a");
        await Patience.UntilAsync(() => a.Backplane.Nodes.Count == 2, "the nodes know each other");

        await redis.SignalAsync("STOP");
        long began = Stopwatch.GetTimestamp();
        PeerInfo[] peers = await a.Server.Routing.ListPeersAcrossNodesAsync().Take(1).ToArrayAsync();
        TimeSpan took = Stopwatch.GetElapsedTime(began);
        await redis.SignalAsync("CONT");

        Assert.Equal(["at-a"], peers.Select(static p => p.RoutingId));
        Assert.True(took < TimeSpan.FromSeconds(10), $"It took {took}.");
    }
}
