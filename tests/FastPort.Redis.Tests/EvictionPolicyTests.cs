using FastPort.Redis.Tests.Support;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>A Redis that may remove keys breaks the promise of one session for an id: the node says so.</summary>
public sealed class EvictionPolicyTests
{
    private const string Neither = "-info";

    [RedisTheory]
    [InlineData("volatile-lru", "")]
    [InlineData("allkeys-random", "")]
    [InlineData("volatile-lru", "-info +config")]
    public async Task A_policy_that_evicts_is_said_at_the_start_and_in_the_health(string policy, string permissions)
    {
        await using RedisProcess redis = await StartAsync(policy, permissions);

        await using Node node = await Node.StartAsync($"{redis.Connection},{RedisUser.Credentials}", "a", Node.LongLease);

        string said = Assert.Single(node.Log.WithId(6017)).Text;
        Assert.Contains($"{redis.Connection}: {policy}", said, StringComparison.Ordinal);
        Assert.EndsWith(
            "Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in the Redis configuration)",
            said,
            StringComparison.Ordinal);
        HealthReportEntry health = await node.HealthAsync();
        Assert.Equal(HealthStatus.Degraded, health.Status);
        Assert.Contains(policy, health.Description, StringComparison.Ordinal);
    }

    [RedisTheory]
    [InlineData("noeviction", "", 0)]
    [InlineData("volatile-lru", Neither, 1)]
    public async Task A_policy_that_keeps_keys_or_that_cannot_be_read_is_no_fault(string policy, string permissions, int unknown)
    {
        await using RedisProcess redis = await StartAsync(policy, permissions);

        await using Node node = await Node.StartAsync($"{redis.Connection},{RedisUser.Credentials}", "a", Node.LongLease);

        Assert.Empty(node.Log.WithId(6017));
        Assert.Equal(unknown, node.Log.WithId(6018).Count);
        Assert.Equal(HealthStatus.Healthy, (await node.HealthAsync()).Status);
    }

    [RedisFact]
    public async Task Messages_name_a_host_as_it_is_written()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync("--maxmemory-policy", "allkeys-lru");
        string connection = redis.Connection.Replace("127.0.0.1", "localhost", StringComparison.Ordinal);

        await using Node node = await Node.StartAsync(connection, "a", Node.LongLease);

        Assert.EndsWith($" at {connection}", Assert.Single(node.Log.WithId(6000)).Text, StringComparison.Ordinal);
        Assert.Contains($"({connection}: allkeys-lru)", Assert.Single(node.Log.WithId(6017)).Text, StringComparison.Ordinal);
    }

    [RedisFact]
    public async Task A_policy_that_changes_while_the_node_runs_is_found()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        var time = new MinuteByHand();
        await using Node node = Node.Create(redis.Connection, "a", time, Node.LongLease);
        await node.Host.StartAsync(Patience.Token);

        await redis.RunAsync("config", "set", "maxmemory-policy", "allkeys-lru");
        time.Pass();
        await UntilHealthIsAsync(node, HealthStatus.Degraded);
        await node.Backplane.Running!.Eviction.ReadAsync();
        await redis.RunAsync("config", "set", "maxmemory-policy", "noeviction");
        time.Pass();
        await UntilHealthIsAsync(node, HealthStatus.Healthy);

        Assert.Single(node.Log.WithId(6017));
    }

    private static Task UntilHealthIsAsync(Node node, HealthStatus status) =>
        Patience.UntilAsync(async () => (await node.HealthAsync()).Status == status, $"the node is {status}");

    private static Task<RedisProcess> StartAsync(string policy, string permissions) => RedisProcess.StartAsync(
        ["--maxmemory-policy", policy, .. RedisUser.Options($"{RedisUser.Documented} {permissions}".TrimEnd())]);

    /// <summary>The system's time, but timers of a minute fire when the test says so.</summary>
    private sealed class MinuteByHand : TimeProvider
    {
        private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

        private Action _pass = static () => { };

        public void Pass() => _pass();

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            if (period != Minute)
            {
                return base.CreateTimer(callback, state, dueTime, period);
            }

            _pass += () => callback(state);
            return base.CreateTimer(callback, state, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }
}
