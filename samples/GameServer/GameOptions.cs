using Microsoft.Extensions.Configuration;

namespace GameServer;

/// <summary>Configuration section <c>Game</c>.</summary>
internal sealed class GameOptions
{
    /// <summary>Ticks of the world, and snapshots, per second; 1 to 240.</summary>
    public int TicksPerSecond { get; set; } = 30;

    public static GameOptions Read(IConfiguration configuration)
    {
        GameOptions options = configuration.GetSection("Game").Get<GameOptions>() ?? new GameOptions();
        if (options.TicksPerSecond is < 1 or > 240)
        {
            throw new InvalidOperationException($"Game:TicksPerSecond is {options.TicksPerSecond}; allowed: 1 to 240.");
        }

        return options;
    }
}
