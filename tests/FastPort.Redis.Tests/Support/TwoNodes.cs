using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>Two nodes that take over ids, at a Redis of any kind.</summary>
internal sealed class TwoNodes : IAsyncDisposable
{
    private const ushort Type = 0x1234;

    private TwoNodes(Node a, Node b)
    {
        A = a;
        B = b;
    }

    public Node A { get; }

    public Node B { get; }

    public static async Task<TwoNodes> StartAsync(string connection, params (string Key, string Value)[] settings)
    {
        (string, string)[] all = [("FastPort:DuplicateIdentity", "TakeOver"), .. settings];
        Node a = await Node.StartAsync(connection, "a", all);
        var nodes = new TwoNodes(a, await Node.StartAsync(connection, "b", all));
        await a.KnowsAsync(2);
        return nodes;
    }

    /// <summary>Relays of many ids, in both directions: each is confirmed and received once.</summary>
    public async Task RelayAsync(int ids = 12)
    {
        await using var account = new RelayAccount();
        List<FastPortClient> clients = [];
        for (int i = 0; i < ids; i++)
        {
            clients.Add(await (i % 2 == 0 ? A : B).ConnectAsync($"id-{i}", account.Target($"id-{i}")));
        }

        for (int i = 0; i < ids; i++)
        {
            account.Send(clients[i], $"id-{(i + 1) % ids}", inFlight: 2);
        }

        for (int i = 0; i < ids; i++)
        {
            await account.DeliversAsync($"id-{i}", more: 20);
        }

        await account.CloseAsync();
        Assert.Equal(["ok"], account.Answers.Keys);
        await Task.WhenAll(clients.Select(static one => one.CloseAsync()));
    }

    /// <summary>Topics, take-over, find, list, kick.</summary>
    public async Task DoTheRestAsync()
    {
        await using FastPortClient first = await A.ConnectAsync("machine-7", reconnect: false);
        Session taken = A.Server.Routing.Find("machine-7")!;
        await using FastPortClient second = await B.ConnectAsync("machine-7", reconnect: false);
        Assert.Equal(CloseKind.TakenOver, (await taken.Closed.InTimeAsync()).Kind);

        await using FastPortClient publisher = await A.ConnectAsync("publisher");
        Subscription subscription = await Subscription.MakeAsync(second, "plant/");
        await A.KnowsInterestsAsync(1);
        await publisher.PublishAsync("plant/line-1", Type, new byte[] { 7 });
        Assert.Equal(("publisher", "plant/line-1", "07"), await subscription.NextAsync());

        Assert.Equal("b", (await A.Server.Routing.FindAcrossNodesAsync("machine-7"))?.Node);
        Assert.Equal(
            [("machine-7", "b"), ("publisher", "a")],
            await publisher.ListPeersAsync().Select(static one => (one.RoutingId, one.Node)).ToArrayAsync());
        Session kicked = B.Server.Routing.Find("machine-7")!;
        Assert.True(await A.Server.Routing.KickAcrossNodesAsync("machine-7", ErrorCode.Forbidden, "Out."));
        Assert.Contains("Out.", (await kicked.Closed.InTimeAsync()).ToString(), StringComparison.Ordinal);
    }

    /// <summary>A node leaves; the other one knows at once.</summary>
    public async Task LeaveAsync()
    {
        await B.Host.StopAsync(Patience.Token);
        await A.KnowsAsync(1);
    }

    public async ValueTask DisposeAsync()
    {
        await B.DisposeAsync();
        await A.DisposeAsync();
    }
}
