using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>Keys of the nodes that Redis evicts, or that somebody removes or overwrites, while the connections stay.</summary>
public sealed class LostKeyTests
{
    private const string Key = "fastport:id:machine-7";
    private const string Nodes = "{fastport:nodes}";
    private const string Version = "{fastport:nodes}:version";
    private const int Many = 24;
    private const string OtherType = "redis.call('del', KEYS[1]) redis.call('rpush', KEYS[1], 'x')";

    [RedisTheory]
    [InlineData("del", Key)]
    [InlineData("pexpire", Key, "1")]
    [InlineData("set", Key, "something else")]
    [InlineData("set", Key, "0123456789abcdef:99999999999999999999")]
    [InlineData("eval", OtherType, "1", Key)]
    public async Task An_id_whose_key_is_lost_or_overwritten_stays_where_it_is(params string[] command)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient client = await a.ConnectAsync("machine-7", reconnect: false);
        string value = await redis.RunAsync("get", Key);

        await redis.RunAsync(command);

        await Patience.UntilAsync(
            async () => await IsStringAsync(redis, Key) && await redis.RunAsync("get", Key) == value, "it is set again");
        Assert.NotNull(a.Server.Routing.Find("machine-7"));
        Assert.NotEmpty(a.Log.WithId(6016));
    }

    [RedisTheory]
    [InlineData("del", Key)]
    [InlineData("eval", OtherType, "1", Key)]
    public async Task In_a_cluster_it_is_set_again_too(params string[] command)
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3);
        await using Node a = await Node.StartAsync(redis.Connection, "a");

        // So many that keys of several slots are looked at at a time.
        List<FastPortClient> clients = [];
        for (int i = 0; i < Many; i++)
        {
            clients.Add(await a.ConnectAsync($"machine-{i}", reconnect: false));
        }

        RedisProcess master = redis.MasterOf(await redis.SlotAsync(Key));
        string value = await master.RunAsync("get", Key);

        await master.RunAsync(command);

        await Patience.UntilAsync(
            async () => await IsStringAsync(master, Key) && await master.RunAsync("get", Key) == value, "it is set again");
        Assert.Equal(Many, a.Server.ConnectionCount);
        await Task.WhenAll(clients.Select(static client => client.DisposeAsync().AsTask()));
    }

    [RedisFact]
    public async Task An_id_that_another_session_claimed_after_its_key_was_lost_has_one_session_again()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient first = await a.ConnectAsync("machine-7", reconnect: false);
        Session session = a.Server.Routing.Find("machine-7")!;

        await using FastPortClient second = await ClaimLostAsync(redis, b);

        Assert.Equal(CloseKind.TakenOver, (await session.Closed.InTimeAsync()).Kind);
        Assert.StartsWith($"{b.Instance()}:", await redis.RunAsync("get", Key), StringComparison.Ordinal);
        Assert.NotNull(b.Server.Routing.Find("machine-7"));
        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("machine-7"));
        Assert.Equal(ErrorCode.DuplicateIdentity, refused.Code);
    }

    [RedisFact]
    public async Task An_id_that_Redis_evicted_has_one_session_again()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync("--maxmemory-policy", "volatile-lru");
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient first = await a.ConnectAsync("machine-7", reconnect: false);
        string value = await redis.RunAsync("get", Key);

        // While it is full, Redis takes no other key either.
        await redis.RunAsync("config", "set", "maxmemory", "1");
        await redis.UntilSaysAsync("0", "exists", Key);
        await redis.RunAsync("config", "set", "maxmemory", "0");

        await Patience.UntilAsync(async () => await redis.RunAsync("get", Key) == value, "it is set again");
        RequestFailedException? refused = null;
        while (refused?.Code != ErrorCode.DuplicateIdentity)
        {
            // Without memory the leases ended, too, and no id is given away for half of one.
            refused = await Assert.ThrowsAsync<RequestFailedException>(() => b.ConnectAsync("machine-7"));
        }

        Assert.NotNull(a.Server.Routing.Find("machine-7"));
    }

    [RedisTheory]
    [InlineData("del", Nodes)]
    [InlineData("del", Version)]
    [InlineData("del", Nodes, Version)]
    [InlineData("set", Nodes, "something else")]
    [InlineData("set", Version, "something else")]
    [InlineData("eval", OtherType, "1", Nodes)]
    [InlineData("eval", OtherType, "1", Version)]
    public async Task Nodes_find_each_other_again_after_their_list_is_lost_or_overwritten(params string[] command)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        await using FastPortClient sender = await a.ConnectAsync("sender", reconnect: false);
        await using FastPortClient target = await b.ConnectAsync("machine-7", reconnect: false);
        await using var account = new RelayAccount();
        await a.KnowsAsync(2);

        await redis.RunAsync(command);
        await Patience.UntilAsync(
            async () => await IsStringAsync(redis, Version) && (await TypeAsync(redis, Nodes)) == "zset"
                && await redis.RunAsync("zcard", Nodes) == "2\n",
            "the list is there again");

        // A node that comes now is known to those that were there before.
        await using Node c = await Node.StartAsync(redis, "c");
        await Task.WhenAll(a.KnowsAsync(3), b.KnowsAsync(3), c.KnowsAsync(3));
        await Patience.UntilAsync(() => a.Backplane.IsConnected && b.Backplane.IsConnected, "both have their leases");
        account.Send(sender, "machine-7", inFlight: 1);
        await account.DeliversAsync("machine-7", more: 1);
        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => c.ConnectAsync("machine-7"));
        Assert.Equal(ErrorCode.DuplicateIdentity, refused.Code);
        Assert.Equal((1, 1), (a.Server.ConnectionCount, b.Server.ConnectionCount));
    }

    // The node may have found the key missing before the other one claims the id: then it is lost once more.
    private static async Task<FastPortClient> ClaimLostAsync(RedisProcess redis, Node node)
    {
        while (true)
        {
            await redis.RunAsync("del", Key);
            try
            {
                return await node.ConnectAsync("machine-7", reconnect: false);
            }
            catch (RequestFailedException e) when (e.Code == ErrorCode.DuplicateIdentity)
            {
                Patience.Token.ThrowIfCancellationRequested();
            }
        }
    }

    private static async Task<bool> IsStringAsync(RedisProcess redis, string key) => await TypeAsync(redis, key) == "string";

    private static async Task<string> TypeAsync(RedisProcess redis, string key) => (await redis.RunAsync("type", key)).Trim();
}
