using System.Globalization;
using FastPort;
using GameServer.Messages;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace GameServer;

/// <summary>
/// Some bots play on the server of this process for <c>Demo:Seconds</c> (3 by default); one of them leaves after half of the time.
/// </summary>
internal static class Demo
{
    private const int BotCount = 4;

    /// <returns>Whether every bot moved and saw its inputs in snapshots.</returns>
    public static async Task<bool> RunAsync(IServiceProvider services)
    {
        var endpoint = services.GetRequiredService<FastPortServer>().Endpoints[0].ToString();
        TimeSpan duration = TimeSpan.FromSeconds(services.GetRequiredService<IConfiguration>().GetValue("Demo:Seconds", 3.0));
        Console.WriteLine($"demo: {BotCount} bots play on {endpoint} for {duration.TotalSeconds.ToString(CultureInfo.InvariantCulture)} s");

        // Added to the playing time; only a broken server needs it.
        using var deadline = new CancellationTokenSource(duration + TimeSpan.FromSeconds(20));
        Bot[] bots = [.. Enumerable.Range(1, BotCount).Select(i => new Bot($"bot-{i}", endpoint))];
        await Task.WhenAll(bots.Select(b => PlayAsync(b, b == bots[^1] ? duration / 2 : duration, deadline.Token)));
        foreach (Bot bot in bots)
        {
            Console.WriteLine($"demo: {bot.Name} sent {bot.Inputs} inputs, saw {bot.Snapshots} snapshots and ended at {Show(bot.Self)}");
        }

        long missed = services.GetRequiredService<GameInbox>().MissedSnapshots;
        Console.WriteLine($"demo: {services.GetRequiredService<GameLoop>().Ticks} ticks, {missed} snapshots missed by slow watchers");
        return bots.All(static b => b.Self is { } self && (self.X != 50 || self.Y != 50));
    }

    private static async Task PlayAsync(Bot bot, TimeSpan duration, CancellationToken cancellationToken)
    {
        await using (bot)
        {
            await bot.JoinAsync();
            await bot.PlayAsync(duration, cancellationToken);
        }
    }

    private static string Show(PlayerState? state) =>
        state is null ? "nowhere" : string.Create(CultureInfo.InvariantCulture, $"({state.X:0.0}, {state.Y:0.0})");
}
