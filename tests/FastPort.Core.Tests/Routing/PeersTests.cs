using FastPort.Core.Tests.Support;
using FastPort.Routing;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

public sealed class PeersTests
{
    [Fact]
    public async Task A_peer_is_listed_with_its_names_and_traffic()
    {
        var time = new FakeTimeProvider();
        time.Advance(TimeSpan.FromMilliseconds(1_234_567));
        await using TestServer server = await StartAsync(components: h => h.Time = time);
        using RawPeer a = await server.ConnectAsync();
        await a.CallAsync(Wire.HelloRequest(1, "werk/ü", name: "Werk 7"));
        await a.PingAsync();
        byte[] query = Query(9);
        await a.SendAsync(RelayRequest(3, "werk/ü", [1, 2, 3]));
        WireFrame relayed = await a.ReadFrameAsync();
        await a.ExpectEmptyReplyAsync(Relay, 3);

        // What was sent is counted after the peer may have read it.
        await Patience.UntilAsync(
            () => server.Opened[0].Connection.BytesSent >= 12 + relayed.Body.Length + 12 + 12, "what was sent is counted");
        WireFrame list = await a.CallAsync(query);

        Assert.Equal((Peers, Wire.Reply, 9u), (list.Type, list.Flags, list.Correlation));
        WireFrame peer = Assert.Single(list.MessagesAt(1));
        Assert.Equal(
            ((ulong)server.Opened[0].Id, "werk/ü", "Werk 7", 1_234_567UL),
            (peer.NumberAt(1), peer.TextAt(2), peer.TextAt(3), peer.NumberAt(4)));

        // Hello, Ping, Relay; the query is counted once it is handed to its handler, which may be before or after.
        Assert.InRange(peer.NumberAt(5), 3UL, 4UL);
        Assert.Equal(4UL, peer.NumberAt(6));
        Assert.Equal((ulong)server.Opened[0].Connection.BytesReceived, peer.NumberAt(7));
        Assert.InRange(peer.NumberAt(8), (ulong)(12 + relayed.Body.Length + 12 + 12), (ulong)server.Opened[0].Connection.BytesSent);
    }

    [Fact]
    public async Task Pages_follow_each_other_in_ordinal_order_and_end_with_an_empty_one()
    {
        await using TestServer server = await StartAsync();
        string[] ids = ["b/2", "a", "b/1", "b/", "b", "B", "b/11", "ä", "日", "c"];
        List<RawPeer> peers = [];
        foreach (string id in ids)
        {
            peers.Add(await server.ConnectAsync(id));
        }

        using RawPeer nameless = await server.ConnectAsync("");
        string[] sorted = [.. ids.Order(StringComparer.Ordinal)];

        Assert.Equal(sorted, await ListAsync(nameless, Query(1)));
        Assert.Equal(["b/", "b/1", "b/11", "b/2"], await ListAsync(nameless, Query(1, "b/")));
        Assert.Equal(["b/", "b/1"], await ListAsync(nameless, Query(1, "b/", 2)));
        Assert.Equal(["b/11", "b/2"], await ListAsync(nameless, Query(1, "b/", 2, "b/1")));
        Assert.Empty(await ListAsync(nameless, Query(1, "b/", 2, "b/2")));
        Assert.Empty(await ListAsync(nameless, Query(1, "x")));
        Assert.Equal(["c"], await ListAsync(nameless, Query(1, "", 1, "b/nobody")));

        List<string> all = [];
        string after = "";
        while (await ListAsync(nameless, Query(1, "", 3, after)) is { Count: > 0 } page)
        {
            all.AddRange(page);
            after = page[^1];
        }

        Assert.Equal(sorted, all);
        Assert.Equal(sorted[2..5], server.Server.Routing.ListPeers(limit: 3, after: sorted[1]).Select(static p => p.RoutingId));
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task A_page_holds_no_more_than_a_frame()
    {
        await using TestServer server = await StartAsync(static o => o.Session.MaxFrameBytes = 1024);
        List<RawPeer> peers = [];
        for (int i = 0; i < 12; i++)
        {
            peers.Add(await server.ConnectAsync(new string('x', 200) + (char)('a' + i)));
        }

        WireFrame page = await peers[0].CallAsync(Query(1));

        Assert.InRange(page.MessagesAt(1).Count, 3, 4);
        Assert.InRange(page.Body.Length, 600, 1016);
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task A_page_has_100_peers_where_nothing_is_said_and_1000_at_most()
    {
        await using TestServer server = await StartAsync(static o => o.MaxConnections = 1200);
        List<RawPeer> peers = [];
        for (int i = 0; i < 101; i++)
        {
            peers.Add(await server.ConnectAsync($"p{i:000}"));
        }

        Assert.Equal(PeerDirectory.DefaultPage, (await ListAsync(peers[0], Query(1))).Count);
        Assert.Equal(101, (await ListAsync(peers[0], Query(1, limit: uint.MaxValue))).Count);
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task Loops_over_all_peers_read_page_after_page()
    {
        const int Peers = 2 * PeerDirectory.DefaultPage + 1;
        await using TestServer server = await StartAsync(static o => o.MaxConnections = 1200);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint.ToString() });
        await client.ConnectAsync();
        List<RawPeer> peers = [];
        for (int i = 0; i < Peers; i++)
        {
            peers.Add(await server.ConnectAsync($"p{i:000}"));
        }

        string[] expected = [.. Enumerable.Range(0, Peers).Select(static i => $"p{i:000}")];
        long before = client.Session!.MessagesSent;

        Assert.Equal(expected, await client.ListPeersAsync().Select(static p => p.RoutingId).ToArrayAsync());
        Assert.Equal(4, client.Session!.MessagesSent - before);
        Assert.Equal(
            expected, await server.Server.Routing.ListPeersAcrossNodesAsync().Select(static p => p.RoutingId).ToArrayAsync());
        using var canceled = new CancellationTokenSource();
        await canceled.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.ListPeersAsync(cancellationToken: canceled.Token).ToArrayAsync().AsTask());
        peers.ForEach(static p => p.Dispose());
    }

    [Theory]
    [InlineData(new byte[] { 0x0A })]
    [InlineData(new byte[] { 0x0A, 1, 0xFF })]
    [InlineData(new byte[] { 0x1A, 5, 1 })]
    [InlineData(new byte[] { 0x08, 1 })]
    [InlineData(new byte[] { 0x0B })]
    public async Task A_hostile_query_is_MalformedBody(byte[] body)
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        Assert.Equal(4u, (await a.CallAsync(Wire.Request(Peers, 1, body))).ErrorCode);
        await a.PingAsync();
    }

    private static byte[] Query(uint correlation, string prefix = "", uint limit = 0, string after = "") =>
        Wire.Request(Peers, correlation, [.. Wire.Text(1, prefix), .. Wire.Number(2, limit), .. Wire.Text(3, after)]);

    private static async Task<List<string>> ListAsync(RawPeer peer, byte[] query) =>
        [.. (await peer.CallAsync(query)).MessagesAt(1).Select(static p => p.TextAt(2))];
}
