using System.Globalization;
using System.Text.RegularExpressions;
using FastPort.Core.Tests.Support;
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
        await using var members = new Membership(
            connection.GetDatabase(), "fastport", "a", TimeSpan.FromSeconds(30), TimeProvider.System)
        {
            ClaimAgain = static () => Task.CompletedTask,
        };
        await members.JoinAsync(Patience.Token);
        int before = await ScriptsAsync(redis);

        bool[] alive = await Task.WhenAll(Enumerable.Range(0, 1000).Select(_ => members.IsAliveAsync(1).AsTask())).InTimeAsync();

        Assert.DoesNotContain(true, alive);

        // One is under way for the first who asked; the second is for all others. Redis may ask for the script once.
        Assert.InRange(await ScriptsAsync(redis) - before, 1, 4);
    }

    private static async Task<int> ScriptsAsync(RedisProcess redis) =>
        Calls().Matches(await redis.RunAsync("INFO", "commandstats"))
            .Sum(static match => int.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture));

    [GeneratedRegex(@"cmdstat_eval(?:sha)?:calls=(\d+)")]
    private static partial Regex Calls();
}
