using System.Collections.Concurrent;
using BrowserGame.Messages;
using FastPort;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BrowserGame;

/// <summary>The room: each step moves all dots and gives every player the new scene.</summary>
internal sealed class GameRoom(TimeProvider time, ILogger<GameRoom> logger) : BackgroundService
{
    public const float Width = 1000;
    public const float Height = 600;

    private const int StepsPerSecond = 30;
    private const float Speed = 400;
    private const int Seats = 100;

    private readonly Lock _entering = new();
    private readonly ConcurrentDictionary<uint, Player> _players = new();
    private uint _lastId;

    public Player Enter(Session session, string name)
    {
        Player player;
        lock (_entering)
        {
            if (session.State is not null)
            {
                throw new RequestRefusedException(ErrorCode.Forbidden, "This session is in the room already.");
            }

            if (_players.Count >= Seats)
            {
                throw new RequestRefusedException(ErrorCode.Overloaded, $"The room is full: {Seats} are here. Try again later.");
            }

            (float x, float y) = (Random.Shared.NextSingle() * Width, Random.Shared.NextSingle() * Height);
            player = new Player(session, ++_lastId, name, x, y);
            session.State = player;
            _players[player.Id] = player;
        }

        logger.LogInformation("{Name} came as {Player} from {Session}; {Players} are here", name, player.Id, session, _players.Count);
        return player;
    }

    public void Leave(Player player)
    {
        player.Session.State = null;
        _players.TryRemove(player.Id, out _);
        logger.LogInformation("{Player} left; {Players} are here", player.Id, _players.Count);
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1) / StepsPerSecond, time);
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            Step();
        }
    }

    // docs: step
    private void Step()
    {
        // A snapshot: a player who enters during the step appears in the next scene.
        ICollection<Player> players = _players.Values;
        Dot[] dots = [.. players.Select(static player => player.Step(Speed / StepsPerSecond))];
        foreach (Player player in players)
        {
            player.Scenes.Writer.TryWrite(new Scene { You = player.Id, Dots = { dots } });
        }
    }

    // docs: end
}
