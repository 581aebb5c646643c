using System.Threading.Channels;
using FastPort;
using GameServer.Messages;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GameServer;

/// <summary>
/// The game: at every tick it takes who came and left, advances the world and hands a snapshot to all watchers. It starts before the
/// server listens and stops after the last session has ended.
/// </summary>
internal sealed class GameLoop(FastPortServer server, GameInbox inbox, GameOptions options, TimeProvider time, ILogger<GameLoop> logger)
    : BackgroundService
{
    private readonly World _world = new();

    /// <summary>Ticks so far.</summary>
    public ulong Ticks => _world.Tick;

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

        Snapshot snapshot = _world.Snapshot();
        foreach ((_, ChannelWriter<Snapshot> watcher) in inbox.Watchers)
        {
            watcher.TryWrite(snapshot);
        }
    }

    // docs: end
    private void OnChange(PlayerChange change)
    {
        if (change.Name is not null)
        {
            _world.Enter(change.Session.Id, change.Name, (LatestInput)change.Session.State!);
            logger.LogInformation(
                "{Name} joined as player {Player}; {Players} are playing", change.Name, change.Session.Id, _world.Players);
        }
        else if (_world.Leave(change.Session.Id))
        {
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
