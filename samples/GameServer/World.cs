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

    public void Enter(long id, string name) => _players[id] = new Player { Name = name, X = Size / 2, Y = Size / 2 };

    public bool Leave(long id) => _players.Remove(id);

    public void Apply(in PlayerInput input)
    {
        // An input may arrive after its player has left, or with an old number.
        if (_players.TryGetValue(input.Player, out Player? player) && input.Input.Sequence > player.LastInput)
        {
            float length = MathF.Sqrt(
                (input.Input.DirectionX * input.Input.DirectionX) + (input.Input.DirectionY * input.Input.DirectionY));

            // Clients are not trusted: a direction longer than 1 would make a player faster, and NaN would spread.
            float scale = length > 1 ? 1 / length : 1;
            player.DirectionX = float.IsFinite(length) ? input.Input.DirectionX * scale : 0;
            player.DirectionY = float.IsFinite(length) ? input.Input.DirectionY * scale : 0;
            player.LastInput = input.Input.Sequence;
        }
    }

    /// <summary>Advances the world by one tick of fixed length, whatever the clock says: the same inputs give the same world.</summary>
    public void Advance(float seconds)
    {
        Tick++;
        foreach (Player player in _players.Values)
        {
            player.X = Math.Clamp(player.X + (player.DirectionX * Speed * seconds), 0, Size);
            player.Y = Math.Clamp(player.Y + (player.DirectionY * Speed * seconds), 0, Size);
        }
    }

    public Snapshot Snapshot()
    {
        var snapshot = new Snapshot { Tick = Tick };
        foreach ((long id, Player player) in _players)
        {
            snapshot.Players.Add(new PlayerState
            {
                Player = id,
                Name = player.Name,
                X = player.X,
                Y = player.Y,
                LastInput = player.LastInput,
            });
        }

        return snapshot;
    }

    private sealed class Player
    {
        public required string Name { get; init; }

        public float X { get; set; }

        public float Y { get; set; }

        public float DirectionX { get; set; }

        public float DirectionY { get; set; }

        public uint LastInput { get; set; }
    }
}
