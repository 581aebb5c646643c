using System.Net;
using FastPort.Redis.Connecting;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>A master with a replica, which Sentinels make the master.</summary>
public sealed class SentinelTests
{
    [RedisFact]
    public async Task Nodes_follow_the_master_that_Sentinels_name_and_disconnect_nobody()
    {
        await using RedisWithReplica redis = await RedisWithReplica.StartAsync(sentinels: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender", reconnect: false);
        await using FastPortClient local = await nodes.A.ConnectAsync("local", account.Target("local"), reconnect: false);
        await using FastPortClient target = await nodes.B.ConnectAsync("target", account.Target("target"), reconnect: false);
        account.Send(sender, "target", inFlight: 8);
        account.Send(sender, "local", inFlight: 2);
        await account.DeliversAsync("target");

        await redis.Master.KillAsync();
        await account.DeliversAsync("local");
        await redis.Sentinel.UntilSaysAsync(
            RedisProcess.Text(redis.Replica.Port), "sentinel", "get-master-addr-by-name", "fastport");
        await account.DeliversAsync("target");

        // The former master finds itself the master until a Sentinel comes by: nobody goes there.
        await redis.Master.StartAgainAsync();
        await redis.Replica.RunAsync("client", "kill", "type", "pubsub");
        await redis.Replica.RunAsync("client", "kill", "type", "normal");
        await account.DeliversAsync("target");

        await account.CloseAsync();
        Assert.Equal((2, 1), (nodes.A.Server.ConnectionCount, nodes.B.Server.ConnectionCount));
        await redis.Replica.UntilSaysAsync(nodes.B.Instance(), "get", "fastport:id:target");
        Assert.Equal("\n", await redis.Master.RunAsync("pubsub", "channels", "fastport:*"));
    }

    [RedisFact]
    public async Task A_claim_that_the_replica_had_not_got_is_set_again()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using Node a = await Node.StartAsync(redis, "a");
        await using FastPortClient late = await a.ConnectAsync("late", reconnect: false);
        await using FastPortClient later = await a.ConnectAsync("later", reconnect: false);

        // What the former master's replica knew: nothing of one, and of the other that it was at another node before.
        await redis.RunAsync("del", "fastport:id:late");
        await redis.RunAsync("set", "fastport:id:later", "00000000000000aa:1");
        await redis.RunAsync("client", "kill", "type", "normal");

        await redis.UntilSaysAsync(a.Instance(), "get", "fastport:id:late");
        await redis.UntilSaysAsync(a.Instance(), "get", "fastport:id:later");
        Assert.Equal(2, a.Server.ConnectionCount);
    }

    /// <summary>One that was away during a failover, and has heard nothing of the others yet, is the first that is asked.</summary>
    [RedisFact]
    public async Task A_node_goes_to_the_master_that_most_Sentinels_name()
    {
        using var directory = new TemporaryDirectory();
        await using RedisProcess former = await RedisProcess.StartAsync();
        await using RedisProcess master = await RedisProcess.StartAsync();
        await using RedisProcess away = await RedisWithReplica.StartSentinelAsync(directory, former, quorum: 1);
        await using RedisProcess second = await RedisWithReplica.StartSentinelAsync(directory, master, quorum: 2);
        await using RedisProcess third = await RedisWithReplica.StartSentinelAsync(directory, master, quorum: 2);

        await using Node node = await Node.StartAsync(
            $"{away.Connection},{second.Connection},{third.Connection},serviceName=fastport", "a");

        Assert.Equal("1", (await master.RunAsync("zcard", "{fastport:nodes}")).Trim());
        Assert.Equal("0", (await former.RunAsync("zcard", "{fastport:nodes}")).Trim());
    }

    [Fact]
    public void Of_masters_that_as_many_Sentinels_name_the_first_is_taken()
    {
        var former = new IPEndPoint(IPAddress.Loopback, 1);
        var master = new IPEndPoint(IPAddress.Loopback, 2);

        Assert.Equal(former, SentinelMaster.MostNamed([null, former, master], out int once));
        Assert.Equal(1, once);
        Assert.Equal(master, SentinelMaster.MostNamed([former, master, null, new IPEndPoint(IPAddress.Loopback, 2)], out int twice));
        Assert.Equal(2, twice);
        Assert.Null(SentinelMaster.MostNamed([null, null], out int never));
        Assert.Equal(0, never);
    }

    [RedisFact]
    public async Task A_service_that_the_Sentinels_do_not_know_is_said()
    {
        await using RedisWithReplica redis = await RedisWithReplica.StartAsync(sentinels: 1);

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(
            () => Node.StartAsync($"{redis.Sentinel.Connection},serviceName=other", "a"));

        Assert.EndsWith(
            "The Sentinels know no master with the serviceName 'other'.", failure.Message, StringComparison.Ordinal);
    }
}
