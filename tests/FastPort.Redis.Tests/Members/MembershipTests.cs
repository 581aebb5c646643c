using System.Globalization;
using System.Text.RegularExpressions;
using FastPort.Redis.Members;
using FastPort.Redis.Tests.Support;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests.Members;

public sealed partial class MembershipTests
{
    [RedisFact]
    public async Task One_renewal_answers_all_who_ask_for_a_dead_node_at_once()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using Membership members = Create(database);
        await members.JoinAsync(Patience.Token);
        int before = await ScriptsAsync(redis);
        answers.Hold();

        Task<bool[]> alive = Task.WhenAll(Enumerable.Range(0, 1000).Select(_ => members.IsAliveAsync(1).AsTask()));

        // One is under way for the first who asked; the second is for all others.
        (await answers.NextAsync()).Give();
        HeldAnswer second = await answers.NextAsync();
        answers.HoldNoMore();
        second.Give();
        Assert.DoesNotContain(true, await alive.InTimeAsync());
        Assert.Equal(2, await ScriptsAsync(redis) - before);
    }

    /// <summary>Redis may have forgotten this node between the renewal and the loss.</summary>
    [RedisFact]
    public async Task A_renewal_that_was_asked_for_before_a_connection_was_lost_gives_no_lease()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using Membership members = Create(database);
        await members.JoinAsync(Patience.Token);
        answers.Hold();
        members.ConnectionRestored();
        HeldAnswer before = await answers.NextAsync();

        members.ConnectionLost();
        before.Give();

        // The next renewal runs after the answer to this one was handled.
        HeldAnswer after = await answers.NextAsync();
        Assert.False(members.HasLease);
        answers.HoldNoMore();
        after.Give();
        await Patience.UntilAsync(() => members.HasLease, "the lease is there again");
    }

    [RedisFact]
    public async Task The_lease_is_renewed_after_a_command_was_canceled()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using Membership members = Create(database);
        await members.JoinAsync(Patience.Token);
        answers.Hold();
        members.ConnectionRestored();

        (await answers.NextAsync()).Fail(new OperationCanceledException("Not by the membership."));
        members.ConnectionRestored();

        (await answers.NextAsync()).Give();
        answers.HoldNoMore();
    }

    /// <summary>The lease counts from when it was asked for: after a slow answer a third of it may be over.</summary>
    [RedisFact]
    public async Task After_a_slow_renewal_the_next_one_is_asked_for_so_much_earlier()
    {
        TimeSpan lease = Patience.Limit * 10;
        var time = new FakeTimeProvider();
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        await using Membership members = Create(database, lease, time);
        await members.JoinAsync(Patience.Token);
        answers.Hold();
        members.ConnectionRestored();
        HeldAnswer slow = await answers.NextAsync();

        time.Advance(lease / 3);
        slow.Give();

        // A third of the lease is longer than the test waits.
        try
        {
            (await answers.NextAsync()).Give();
        }
        finally
        {
            answers.HoldNoMore();
        }
    }

    [RedisFact]
    public async Task Leaving_ends_in_order_though_its_command_was_canceled()
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using ConnectionMultiplexer connection = await ConnectionMultiplexer.ConnectAsync(redis.Connection);
        (IDatabase database, HeldRedis answers) = HeldRedis.Over(connection.GetDatabase());
        Membership members = Create(database);
        await members.JoinAsync(Patience.Token);
        answers.Hold();

        ValueTask leaving = members.DisposeAsync();
        (await answers.NextAsync()).Fail(new OperationCanceledException("Not by the membership."));

        await leaving.InTimeAsync();
    }

    private static Membership Create(IDatabase redis) => Create(redis, TimeSpan.FromSeconds(30), TimeProvider.System);

    private static Membership Create(IDatabase redis, TimeSpan lease, TimeProvider time) => new(redis, "fastport", "a", lease, time)
    {
        ClaimAgain = static () => Task.CompletedTask,
    };

    private static async Task<int> ScriptsAsync(RedisProcess redis) =>
        Calls().Matches(await redis.RunAsync("INFO", "commandstats"))
            .Sum(static match => int.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture));

    [GeneratedRegex(@"cmdstat_eval(?:sha)?:calls=(\d+)")]
    private static partial Regex Calls();
}
