using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>A cluster of masters, whose servers hold the ids and the channels of nodes by their slots.</summary>
public sealed class ClusterTests
{
    [RedisFact]
    public async Task Nodes_work_with_a_cluster_which_spreads_the_ids()
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3, RedisUser.Options(RedisUser.Documented));
        await using TwoNodes nodes = await TwoNodes.StartAsync($"{redis.Connection},{RedisUser.Credentials}", Node.LongLease);

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();

        // A plain channel would be passed on to all.
        string channel = $"fastport:node:{nodes.A.Instance()}";
        RedisProcess itsMaster = redis.MasterOf(await redis.SlotAsync(channel));
        Assert.Contains(channel, await itsMaster.RunAsync("pubsub", "shardchannels"), StringComparison.Ordinal);
        foreach (RedisProcess master in redis.Masters)
        {
            Assert.Equal("\n", await master.RunAsync("pubsub", "channels", "fastport:*"));
        }

        await nodes.LeaveAsync();
    }

    [RedisFact]
    public async Task Masters_are_killed_and_come_back_empty_and_all_ids_are_set_again()
    {
        const int Targets = 9;
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender", reconnect: false);
        await using FastPortClient local = await nodes.A.ConnectAsync("local", account.Target("local"), reconnect: false);
        account.Send(sender, "local", inFlight: 2);
        List<FastPortClient> targets = [];
        HashSet<RedisProcess> holders = [];
        for (int i = 0; i < Targets; i++)
        {
            targets.Add(await nodes.B.ConnectAsync($"target-{i}", account.Target($"target-{i}"), reconnect: false));
            account.Send(sender, $"target-{i}", inFlight: 1);
            await account.DeliversAsync($"target-{i}", more: 1);
            holders.Add(redis.MasterOf(await redis.SlotAsync($"fastport:id:target-{i}")));
        }

        Assert.Equal(3, holders.Count);
        RedisProcess ofTheNodes = redis.MasterOf(await redis.SlotAsync("{fastport:nodes}"));
        foreach (RedisProcess master in new[] { redis.Masters.First(one => one != ofTheNodes), ofTheNodes })
        {
            await master.KillAsync();
            await redis.Masters.First(one => one != master).UntilSaysAsync("cluster_state:fail", "cluster", "info");
            await account.DeliversAsync("local");
            await master.StartAgainAsync();
            await redis.IsWholeAsync();

            for (int i = 0; i < Targets; i++)
            {
                await account.DeliversAsync($"target-{i}", more: 1);
                await redis.MasterOf(await redis.SlotAsync($"fastport:id:target-{i}"))
                    .UntilSaysAsync(nodes.B.Instance(), "get", $"fastport:id:target-{i}");
            }
        }

        await account.CloseAsync();
        Assert.Equal((2, Targets), (nodes.A.Server.ConnectionCount, nodes.B.Server.ConnectionCount));
        await Task.WhenAll(targets.Select(static one => one.CloseAsync()));
    }

    [RedisFact]
    public async Task Slots_of_channels_of_an_id_and_of_the_nodes_move_to_other_masters()
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender", reconnect: false);
        await using FastPortClient target = await nodes.B.ConnectAsync("target", account.Target("target"), reconnect: false);
        account.Send(sender, "target", inFlight: 16);
        await account.DeliversAsync("target");

        string[] moved =
        [
            $"fastport:node:{nodes.B.Instance()}", $"fastport:node:{nodes.A.Instance()}", "fastport:id:target", "{fastport:nodes}",
        ];
        foreach (string name in moved)
        {
            int slot = await redis.SlotAsync(name);
            await redis.MoveAsync(slot, redis.Masters.First(one => one != redis.MasterOf(slot)));
            await account.DeliversAsync("target");
        }

        await account.CloseAsync();
        Assert.Equal((1, 1), (nodes.A.Server.ConnectionCount, nodes.B.Server.ConnectionCount));
    }

    [RedisFact]
    public async Task A_cluster_without_sharded_channels_is_refused_with_what_to_do()
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 1, "--rename-command", "SPUBLISH", "");

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(() => Node.StartAsync(redis.Connection, "a"));

        Assert.EndsWith(
            " A cluster must run Redis 7.0 or later: nodes use sharded channels.", failure.Message, StringComparison.Ordinal);
    }
}
