using FastPort;
using FastPort.Protocol;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GameServer;

/// <summary>
/// The game: at every tick it takes who came and left, advances the world and sends one snapshot to all players. It starts before the
/// server listens and stops after the last session has ended.
/// </summary>
internal sealed class GameLoop(FastPortServer server, GameInbox inbox, GameOptions options, TimeProvider time, ILogger<GameLoop> logger)
    : BackgroundService
{
    private readonly World _world = new();
    private readonly SessionGroup _players = new();
    private long _missed;

    /// <summary>Ticks so far.</summary>
    public ulong Ticks => _world.Tick;

    /// <summary>Snapshots that a player's full send queue did not take. The next snapshot has the whole state again.</summary>
    public long MissedSnapshots => Interlocked.Read(ref _missed);

    public override Task StartAsync(CancellationToken cancellationToken)
    {
        server.SessionOpened += OnSessionOpened;
        server.SessionClosed += OnSessionClosed;
        return base.StartAsync(cancellationToken);
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        float seconds = 1f / options.TicksPerSecond;
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1) / options.TicksPerSecond, time);
        try
        {
            // After a late tick the next one follows at once; missed ticks are skipped.
            while (await timer.WaitForNextTickAsync(stoppingToken))
            {
                Tick(seconds);
            }
        }
        catch (OperationCanceledException)
        {
            logger.LogInformation("The game ends after {Ticks} ticks", _world.Tick);
        }
    }

    // docs: tick
    private void Tick(float seconds)
    {
        while (inbox.Changes.Reader.TryRead(out PlayerChange change))
        {
            OnChange(change);
        }

        _world.Advance(seconds);

        // One message for all players, encoded once; each session gets a copy of the bytes.
        int members = _players.Count;
        int sent = _players.Broadcast(GameMessageType.Snapshot, _world.Snapshot());
        Interlocked.Add(ref _missed, Math.Max(0, Math.Min(members, _players.Count) - sent));
    }

    // docs: end
    private void OnChange(PlayerChange change)
    {
        if (change.Name is not null)
        {
            _world.Enter(change.Session.Id, change.Name, (LatestInput)change.Session.State!);
            _players.Add(change.Session);
            logger.LogInformation(
                "{Name} joined as player {Player}; {Players} are playing", change.Name, change.Session.Id, _world.Players);
        }
        else if (_world.Leave(change.Session.Id))
        {
            _players.Remove(change.Session);
            logger.LogInformation("Player {Player} left; {Players} are playing", change.Session.Id, _world.Players);
        }
    }

    private void OnSessionOpened(Session session) => logger.LogInformation("{Session} connected", session);

    // Runs on the session's loop, after its last message: its Join, if any, is already in the channel.
    private void OnSessionClosed(Session session, CloseReason reason)
    {
        if (session.State is not null)
        {
            inbox.Changes.Writer.TryWrite(new PlayerChange(session, Name: null));
        }
    }
}
