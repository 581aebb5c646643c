using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>
/// Relays while nodes and Redis fail: every one is answered, what was confirmed was received once, local traffic goes on, and all heals by
/// itself. The lease is 2 s.
/// </summary>
public sealed class FaultTests
{
    [RedisFact]
    public async Task A_node_is_killed_and_its_ids_are_free_after_its_lease()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using NodeProcess a = await NodeProcess.StartAsync(redis.Connection, "a");
        await using NodeProcess b = await NodeProcess.StartAsync(redis.Connection, "b");
        await using NodeProcess c = await NodeProcess.StartAsync(redis.Connection, "c");
        await using var account = new RelayAccount();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient local = await a.ConnectAsync("local", account.Target("local"));
        FastPortClient target = await b.ConnectAsync("target", account.Target("target"));
        account.Send(sender, "target", inFlight: 16);
        account.Send(sender, "local", inFlight: 2);
        await account.DeliversAsync("target");

        b.Signal(ServerProcess.SigKill);
        account.FaultEnds();
        await account.DeliversAsync("local");
        await target.DisposeAsync();
        await using FastPortClient again = await c.ConnectAgainAsync("target", account.Target("target again"));

        await account.DeliversAsync("target");

        // Confirmed is what the node has queued: what it had not sent yet died with it.
        await account.CloseAsync(mayMissLast: "target");
    }

    [RedisFact]
    public async Task Redis_is_killed_and_started_again_empty()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using NodeProcess a = await NodeProcess.StartAsync(redis.Connection, "a");
        await using NodeProcess b = await NodeProcess.StartAsync(redis.Connection, "b");
        await using var account = new RelayAccount();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient local = await a.ConnectAsync("local", account.Target("local"));
        await using FastPortClient target = await b.ConnectAsync("target", account.Target("target"));
        account.Send(sender, "target", inFlight: 16);
        account.Send(sender, "local", inFlight: 2);
        await account.DeliversAsync("target");

        await redis.KillAsync();
        await account.DeliversAsync("local");
        await redis.StartAgainAsync();
        account.FaultEnds();

        await account.DeliversAsync("target");

        // The ids were claimed again: nobody else gets them.
        RequestFailedException? refused = null;
        while (refused?.Code != ErrorCode.DuplicateIdentity)
        {
            // Until the other nodes have had time to claim theirs, no id is given away.
            refused = await Assert.ThrowsAsync<RequestFailedException>(() => a.ConnectAsync("target"));
        }

        await account.CloseAsync();
    }

    [RedisFact]
    public async Task Redis_is_stopped_for_10_s()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using NodeProcess a = await NodeProcess.StartAsync(redis.Connection, "a");
        await using NodeProcess b = await NodeProcess.StartAsync(redis.Connection, "b");
        await using var account = new RelayAccount();
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient local = await a.ConnectAsync("local", account.Target("local"));
        await using FastPortClient target = await b.ConnectAsync("target", account.Target("target"));
        account.Send(sender, "target", inFlight: 16);
        account.Send(sender, "local", inFlight: 2);
        await account.DeliversAsync("target");

        await redis.SignalAsync("STOP");

        // The lease has ended, as relays to other nodes are refused.
        await Patience.UntilAsync(() => account.Answers.ContainsKey("Unavailable"), "the lease has ended");
        await account.DeliversForAsync("local", TimeSpan.FromSeconds(8));
        await redis.SignalAsync("CONT");
        account.FaultEnds();

        await account.DeliversAsync("target");
        await account.CloseAsync();
    }

    /// <summary>For longer than others wait until it has subscribed again; its lease goes on.</summary>
    [RedisFact]
    public async Task Relays_to_a_node_whose_connection_is_away_are_Unavailable()
    {
        const ushort Type = 0x1234;
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using var line = new RedisLine(redis);
        await using Node a = await Node.StartAsync(redis, "a", Node.LongLease);
        await using Node b = await Node.StartAsync(line.Connection, "b", Node.LongLease);
        await using FastPortClient sender = await a.ConnectAsync("sender");
        await using FastPortClient target = await b.ConnectAsync(
            "target", static client => client.OnRelayed(Type, (scoped in _) => { }));
        await sender.RelayAsync("target", Type, new byte[] { 1 });

        await line.CloseAsync();
        await redis.UntilSaysAsync("\n0", "PUBSUB", "NUMSUB", $"fastport:node:{b.Instance()}");

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => sender.RelayAsync("target", Type, new byte[] { 2 }));
        Assert.Equal(ErrorCode.Unavailable, failure.Code);
        Assert.Equal(["a", "b"], a.Backplane.Nodes.Order(StringComparer.Ordinal));
    }

    [RedisFact]
    public async Task A_second_node_of_one_name_does_not_start_and_says_why()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(() => Node.StartAsync(redis, "a"));

        Assert.Contains("The node name 'a' belongs to a running node", failure.Message, StringComparison.Ordinal);
        Assert.Equal(["a"], a.Backplane.Nodes);
    }

    [RedisFact]
    public async Task A_wrong_password_is_said()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync("--requirepass", "secret");

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(() => Node.StartAsync(redis, "a"));

        Assert.Contains("FastPort:Backplane:Connection", failure.Message, StringComparison.Ordinal);
        await using Node b = Node.Create($"{redis.Connection},password=secret", "b");
        await b.Host.StartAsync(Patience.Token);
        Assert.True(b.Backplane.IsConnected);
    }
}
