using FastPort.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Framing;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>Redis as it is run: with TLS and a user of its own, with a replica and Sentinels, as a cluster.</summary>
public sealed class DeploymentTests
{
    [RedisTheory]
    [InlineData("resp2")]
    [InlineData("resp3")]
    public async Task Nodes_work_by_either_protocol(string protocol)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TwoNodes nodes = await TwoNodes.StartAsync($"{redis.Connection},protocol={protocol}");

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
    }

    [RedisFact]
    public async Task Nodes_work_over_TLS_as_a_user_with_the_documented_permissions()
    {
        using var directory = new TemporaryDirectory();
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(directory["ca.pem"]);
        TestCertificate certificate = authority.Issue("redis", ip: ["127.0.0.1"]);
        certificate.WritePem(directory["redis.pem"]);
        certificate.WriteKey(directory["redis.key"]);
        await using RedisProcess redis = await RedisProcess.StartAsync(port =>
        [
            "--port", "0", "--tls-port", RedisProcess.Text(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", directory["ca.pem"],
            "--tls-cert-file", directory["redis.pem"], "--tls-key-file", directory["redis.key"],
            .. RedisUser.Options(RedisUser.Documented),
        ]);

        // Of this process: no other test uses TLS to Redis.
        Environment.SetEnvironmentVariable("SERedis_IssuerCertPath", directory["ca.pem"]);
        await using TwoNodes nodes = await TwoNodes.StartAsync($"{redis.Connection},ssl=true,{RedisUser.Credentials}");

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
        await nodes.LeaveAsync();
    }

    [RedisTheory]
    [InlineData("-publish")]
    [InlineData("-subscribe")]
    [InlineData("-eval -evalsha")]
    [InlineData("-get")]
    [InlineData("resetkeys ~other:*")]
    [InlineData("resetkeys ~{fastport:*")]
    [InlineData("resetkeys ~fastport:*")]
    [InlineData("resetchannels &other:*")]
    public async Task A_missing_permission_is_said_at_the_start(string change)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync(RedisUser.Options($"{RedisUser.Documented} {change}"));

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(
            () => Node.StartAsync($"{redis.Connection},{RedisUser.Credentials}", "a"));

        Assert.EndsWith(
            " A permission of the Redis user is missing; nodes need ~fastport:* ~{fastport:* &fastport:* +@all -@admin -@dangerous +info "
            + "(ACL SETUSER).",
            failure.Message,
            StringComparison.Ordinal);
    }

    [RedisFact]
    public async Task Sentinels_name_another_master_and_the_nodes_follow()
    {
        await using RedisWithReplica redis = await RedisWithReplica.StartAsync(sentinels: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender");
        await using FastPortClient local = await nodes.A.ConnectAsync("local", account.Target("local"));
        await using FastPortClient target = await nodes.B.ConnectAsync("target", account.Target("target"));
        account.Send(sender, "target", inFlight: 8);
        account.Send(sender, "local", inFlight: 2);
        await account.DeliversAsync("target");

        await redis.Master.KillAsync();
        await account.DeliversAsync("local");

        await account.DeliversAsync("target");
        await account.CloseAsync();
        Assert.Equal((2, 1), (nodes.A.Server.ConnectionCount, nodes.B.Server.ConnectionCount));
        await redis.Replica.UntilSaysAsync(nodes.B.Instance(), "get", "fastport:id:target");
        Assert.Equal("b", (await nodes.A.Server.Routing.FindAsync("target"))?.Node);
    }

    [RedisFact]
    public async Task Nodes_work_with_a_cluster_which_spreads_the_ids()
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3, RedisUser.Options(RedisUser.Documented));
        await using TwoNodes nodes = await TwoNodes.StartAsync($"{redis.Connection},{RedisUser.Credentials}");

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
        await nodes.LeaveAsync();
    }

    [RedisFact]
    public async Task Masters_of_a_cluster_are_killed_and_come_back_empty()
    {
        const int Targets = 9;
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender");
        await using FastPortClient local = await nodes.A.ConnectAsync("local", account.Target("local"));
        account.Send(sender, "local", inFlight: 2);
        List<FastPortClient> targets = [];
        for (int i = 0; i < Targets; i++)
        {
            targets.Add(await nodes.B.ConnectAsync($"target-{i}", account.Target($"target-{i}")));
            account.Send(sender, $"target-{i}", inFlight: 1);
            await account.DeliversAsync($"target-{i}", more: 1);
        }

        foreach (RedisProcess master in redis.Masters)
        {
            var w = System.Diagnostics.Stopwatch.StartNew();
            await master.KillAsync();
            await account.DeliversAsync("local");
            Console.WriteLine($"{w.Elapsed} local");
            await master.StartAgainAsync();
            await redis.IsWholeAsync();
            Console.WriteLine($"{w.Elapsed} whole {account.Text}");
            for (int i = 0; i < Targets; i++)
            {
                await account.DeliversAsync($"target-{i}", more: 1);
            }
            Console.WriteLine($"{w.Elapsed} delivered {account.Text}");

            foreach (RedisProcess one in redis.Masters) Console.WriteLine("keys " + (await one.RunAsync("keys", "*")).Replace('\n', ' '));
        }

        await account.CloseAsync();
        Assert.Equal((2, Targets), (nodes.A.Server.ConnectionCount, nodes.B.Server.ConnectionCount));
        foreach (var l in nodes.A.Log.Lines.Concat(nodes.B.Log.Lines).Where(l => l.Id >= 6000)) Console.WriteLine(l.Id + " " + l.Text);
        await Task.WhenAll(targets.Select(static one => one.CloseAsync()));
    }

    [RedisFact]
    public async Task Slots_of_a_channel_and_of_an_id_move_to_other_masters()
    {
        await using RedisCluster redis = await RedisCluster.StartAsync(masters: 3);
        await using TwoNodes nodes = await TwoNodes.StartAsync(redis.Connection);
        await using var account = new RelayAccount();
        await using FastPortClient sender = await nodes.A.ConnectAsync("sender");
        await using FastPortClient target = await nodes.B.ConnectAsync("target", account.Target("target"));
        account.Send(sender, "target", inFlight: 16);
        await account.DeliversAsync("target");

        foreach (string name in new[] { $"fastport:node:{nodes.B.Instance()}", "fastport:id:target", "{fastport:nodes}", $"fastport:node:{nodes.A.Instance()}" })
        {
            int slot = await redis.SlotAsync(name);
            Console.WriteLine($"{name} {slot} {account.Text}");
            await redis.MoveAsync(slot, redis.Masters.First(one => one != redis.MasterOf(slot)));
            await account.DeliversAsync("target");
            Console.WriteLine($"{name} {account.Text}");
        }

        await account.CloseAsync();
        foreach (var l in nodes.A.Log.Lines.Concat(nodes.B.Log.Lines).Where(l => l.Id >= 6000)) Console.WriteLine(l.Id + " " + l.Text);
    }
}
