using System.Globalization;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

public sealed class ClaimTests
{
    [RedisFact]
    public async Task An_id_belongs_to_one_session_of_all_nodes()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using Node b = await Node.StartAsync(redis, "b");
        FastPortClient first = await a.ConnectAsync("machine-7");

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => b.ConnectAsync("machine-7"));
        await first.CloseAsync();
        await using FastPortClient second = await b.ConnectAsync("machine-7");

        Assert.Equal(ErrorCode.DuplicateIdentity, refused.Code);
        await Patience.UntilAsync(() => b.Server.Routing.Find("machine-7") is not null, "the id is reachable");
    }

    [RedisFact]
    public async Task A_take_over_closes_the_session_of_the_other_node()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        (string, string) takesOver = ("FastPort:DuplicateIdentity", "TakeOver");
        await using Node a = await Node.StartAsync(redis, "a", takesOver);
        await using Node b = await Node.StartAsync(redis, "b", takesOver);
        await using FastPortClient first = await a.ConnectAsync("machine-7");
        Session session = a.Server.Routing.Find("machine-7")!;

        await using FastPortClient second = await b.ConnectAsync("machine-7");

        Assert.Equal(CloseKind.TakenOver, (await session.Closed.InTimeAsync()).Kind);
        await Patience.UntilAsync(() => a.Server.Routing.Find("machine-7") is null, "the id has left the node");
    }

    /// <summary>Its Hello is refused: whoever it is could write anything into the log.</summary>
    [RedisTheory]
    [InlineData("set", "fastport:id:machine-7", "something else")]
    [InlineData("config", "set", "maxmemory", "1")]
    public async Task A_claim_that_fails_at_Redis_is_logged_without_the_id(params string[] command)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", Node.LongLease);
        await redis.RunAsync(command);

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("machine-7"));

        Assert.Equal(ErrorCode.Unavailable, refused.Code);
        Assert.DoesNotContain("machine-7", Assert.Single(a.Log.WithId(6011)).Text, StringComparison.Ordinal);
    }

    /// <summary>A peer may relay to any target, and so write anything into the log.</summary>
    [RedisFact]
    public async Task A_look_up_that_fails_at_Redis_is_logged_without_the_id()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", Node.LongLease);
        await using FastPortClient sender = await a.ConnectAsync("sender");

        // Redis does not answer in its 5 s.
        await redis.SignalAsync("STOP");
        RequestFailedException failed = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("machine-7", 1, new byte[1]).InTimeAsync());
        await redis.SignalAsync("CONT");

        Assert.Equal(ErrorCode.Unavailable, failed.Code);
        Assert.DoesNotContain("machine-7", Assert.Single(a.Log.WithId(6009)).Text, StringComparison.Ordinal);
    }

    [RedisFact]
    public async Task Of_many_that_claim_an_id_at_once_at_two_nodes_one_has_it()
    {
        const int Ids = 1000;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", ("FastPort:MaxConnections", "5000"), Node.LongLease);
        await using Node b = await Node.StartAsync(redis, "b", ("FastPort:MaxConnections", "5000"), Node.LongLease);
        var clients = new FastPortClient?[2 * Ids];

        await ForEachIdAsync(Ids, async i =>
        {
            FastPortClient?[] two = await Task.WhenAll(TryConnectAsync(a, $"id-{i}"), TryConnectAsync(b, $"id-{i}"));
            two.CopyTo(clients, 2 * i);
        });

        Assert.All(Enumerable.Range(0, Ids), i => Assert.Single([clients[2 * i], clients[(2 * i) + 1]], static one => one is not null));
        await Task.WhenAll(clients.OfType<FastPortClient>().Select(static one => one.CloseAsync()));
    }

    [RedisFact]
    public async Task Keys_are_set_again_one_after_the_other()
    {
        const int Ids = 900;
        const string Renewed = "local n = 0 for _, key in ipairs(redis.call('keys', 'fastport:id:*')) do "
            + "if redis.call('pttl', key) > 500000 then n = n + 1 end end return n";
        const string Age = "for _, key in ipairs(redis.call('keys', 'fastport:id:*')) do redis.call('pexpire', key, 400000) end";
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node node = await Node.StartAsync(redis, "a", ("FastPort:MaxConnections", "5000"), Node.LongLease);
        var clients = new FastPortClient[Ids];
        await ForEachIdAsync(Ids, async i => clients[i] = await node.ConnectAsync($"id-{i}"));

        await redis.RunAsync("EVAL", Age, "0");
        int renewed = 0;
        await Patience.UntilAsync(
            async () => (renewed = int.Parse(await redis.RunAsync("EVAL", Renewed, "0"), CultureInfo.InvariantCulture)) >= 6,
            "some claims were renewed");

        Assert.InRange(renewed, 6, Ids / 2);
        await Task.WhenAll(clients.Select(static one => one.CloseAsync()));
    }

    [RedisTheory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task Clocks_of_nodes_may_be_an_hour_apart(int hours)
    {
        (string, string) takesOver = ("FastPort:DuplicateIdentity", "TakeOver");
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a", takesOver);
        await using Node b = Node.Create(redis.Connection, "b", new ShiftedClock(TimeSpan.FromHours(hours)), takesOver);
        await b.Host.StartAsync(Patience.Token);
        await a.KnowsAsync(2);
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient first = await a.ConnectAsync("machine-7", reconnect: false);

        // There and back: each claim is newer than the one before, whatever the nodes' clocks say. Those that have lost the id do not
        // reconnect, as they would take it over again.
        await using FastPortClient second = await b.ConnectAsync("machine-7", reconnect: false);
        await Patience.UntilAsync(() => a.Server.Routing.Find("machine-7") is null, "the id has left node a");
        await sender.RelayAsync("machine-7", 1, new byte[] { 1 });
        await using FastPortClient third = await a.ConnectAsync("machine-7");
        await Patience.UntilAsync(() => b.Server.Routing.Find("machine-7") is null, "the id has left node b");
        await sender.RelayAsync("machine-7", 1, new byte[] { 2 });

        Assert.True(a.Backplane.IsConnected && b.Backplane.IsConnected);
    }

    // Some at a time: the time that a client has to connect would else be spent behind a thousand others.
    private static Task ForEachIdAsync(int ids, Func<int, Task> connect) => Parallel.ForEachAsync(
        Enumerable.Range(0, ids), new ParallelOptions { MaxDegreeOfParallelism = 32 }, async (i, _) => await connect(i));

    private static async Task<FastPortClient?> TryConnectAsync(Node node, string id)
    {
        try
        {
            return await node.ConnectAsync(id);
        }
        catch (RequestFailedException e) when (e.Code == ErrorCode.DuplicateIdentity)
        {
            return null;
        }
    }

    private sealed class ShiftedClock(TimeSpan shift) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + shift;
    }
}
