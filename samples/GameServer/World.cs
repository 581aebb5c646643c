using GameServer.Messages;

namespace GameServer;

/// <summary>The state of the game. Only the game loop reads and writes it, so there is no lock.</summary>
internal sealed class World
{
    private const float Speed = 5;
    private const float Size = 100;
    private readonly Dictionary<long, Player> _players = [];

    public ulong Tick { get; private set; }

    public int Players => _players.Count;

    public void Enter(long id, string name, LatestInput input) =>
        _players[id] = new Player(new PlayerState { Player = id, Name = name, X = Size / 2, Y = Size / 2 }, input);

    public bool Leave(long id) => _players.Remove(id);

    /// <summary>
    /// Applies the players' latest inputs and advances the world by one tick of fixed length, whatever the clock says: the same inputs give
    /// the same world.
    /// </summary>
    public void Advance(float seconds)
    {
        Tick++;
        foreach (Player player in _players.Values)
        {
            Steer(player);
            PlayerState state = player.State;
            state.X = Math.Clamp(state.X + (player.DirectionX * Speed * seconds), 0, Size);
            state.Y = Math.Clamp(state.Y + (player.DirectionY * Speed * seconds), 0, Size);
        }
    }

    public Snapshot Snapshot() => new() { Tick = Tick, Players = { _players.Values.Select(static p => p.State.Clone()) } };

    private static void Steer(Player player)
    {
        // None yet, or one that was applied at an earlier tick.
        if (player.Latest.Input is not { } input || input.Sequence <= player.State.LastInput)
        {
            return;
        }

        float length = MathF.Sqrt((input.DirectionX * input.DirectionX) + (input.DirectionY * input.DirectionY));

        // Clients are not trusted: a direction longer than 1 would make a player faster, and NaN would spread.
        float scale = length > 1 ? 1 / length : 1;
        player.DirectionX = float.IsFinite(length) ? input.DirectionX * scale : 0;
        player.DirectionY = float.IsFinite(length) ? input.DirectionY * scale : 0;
        player.State.LastInput = input.Sequence;
    }

    private sealed record Player(PlayerState State, LatestInput Latest)
    {
        public float DirectionX { get; set; }

        public float DirectionY { get; set; }
    }
}
