using FastPort.Protocol;
using GameServer;
using GameServer.Messages;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>The game server of samples/GameServer; the tests say when a tick is due.</summary>
public sealed class GameServerTests : IAsyncLifetime
{
    private static readonly TimeSpan Tick = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private readonly FakeTimeProvider _time = new();
    private readonly GameInbox _inbox = new();
    private readonly FastPortServer _server;
    private readonly GameLoop _loop;

    public GameServerTests()
    {
        var options = new GameOptions { TicksPerSecond = 1 };
        _server = new FastPortServer(new FastPortServerOptions { Endpoints = ["tcp://127.0.0.1:0"] });
        _server.Handlers.MapService(new GameService(_inbox, options));
        _loop = new GameLoop(_server, _inbox, options, _time, NullLogger<GameLoop>.Instance);
    }

    private string Endpoint => _server.Endpoints[0].ToString();

    public async ValueTask InitializeAsync()
    {
        await _loop.StartAsync(CancellationToken.None);
        await Patience.UntilAsync(() => _time.IsRunning(Tick), "the game runs");
        await _server.StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _loop.StopAsync(CancellationToken.None);
        _loop.Dispose();
    }

    [Fact]
    public async Task A_player_who_sends_too_many_inputs_replaces_none_of_the_others()
    {
        using var limit = new CancellationTokenSource(Limit);
        await using FastPortClient quietClient = await ConnectAsync();
        await using FastPortClient loudClient = await ConnectAsync();
        var quiet = new GameClient(quietClient);
        var loud = new GameClient(loudClient);
        await quiet.JoinAsync(new JoinRequest { Name = "quiet" }, cancellationToken: limit.Token);
        await loud.JoinAsync(new JoinRequest { Name = "loud" }, cancellationToken: limit.Token);
        await using IAsyncEnumerator<Snapshot> snapshots = await WatchAsync(quiet, limit.Token);

        await quiet.SteerAsync(new Input { Sequence = 1, DirectionX = 1 }, cancellationToken: limit.Token);
        await Task.WhenAll(Enumerable.Range(1, 10_000).Select(
            i => loud.SteerAsync(new Input { Sequence = (uint)i, DirectionX = -1 }, cancellationToken: limit.Token)));
        await TickAsync();

        Assert.True(await snapshots.MoveNextAsync());
        Assert.Equal(
            [("loud", 45, 10_000u), ("quiet", 55, 1u)],
            snapshots.Current.Players.Select(static p => (p.Name, (int)p.X, p.LastInput)).Order());
    }

    [Fact]
    public async Task A_watcher_that_does_not_read_holds_up_nobody_and_gets_the_latest_snapshot()
    {
        using var limit = new CancellationTokenSource(Limit);
        await using FastPortClient slowClient = await ConnectAsync(window: 1);
        await using FastPortClient fastClient = await ConnectAsync();
        await using IAsyncEnumerator<Snapshot> slow = await WatchAsync(new GameClient(slowClient), limit.Token);
        await using IAsyncEnumerator<Snapshot> fast = await WatchAsync(new GameClient(fastClient), limit.Token);

        while (_inbox.MissedSnapshots < 5)
        {
            await TickAsync();
            Assert.True(await fast.MoveNextAsync());
            Assert.Equal(_loop.Ticks, fast.Current.Tick);
        }

        ulong latest = fast.Current.Tick;
        ulong last = slow.Current.Tick;
        var missed = false;
        while (slow.Current.Tick < latest)
        {
            Assert.True(await slow.MoveNextAsync());
            missed |= slow.Current.Tick > last + 1;
            last = slow.Current.Tick;
        }

        Assert.True(missed);
        Assert.Equal(latest, last);
    }

    [Fact]
    public async Task A_session_joins_once_and_with_a_name_of_1_to_32_characters()
    {
        await using FastPortClient client = await ConnectAsync();
        var game = new GameClient(client);

        Assert.Equal(ErrorCode.MalformedBody, await RefusedAsync(game, ""));
        Assert.Equal(ErrorCode.MalformedBody, await RefusedAsync(game, new string('x', 33)));
        await game.JoinAsync(new JoinRequest { Name = "once" });
        Assert.Equal(ErrorCode.Forbidden, await RefusedAsync(game, "again"));
    }

    [Fact]
    public async Task A_bot_whose_session_was_closed_joins_again_and_plays_on()
    {
        using var limit = new CancellationTokenSource(Limit);
        await using var bot = new Bot("bot", Endpoint);
        await bot.JoinAsync();
        long first = (await SeenAsync(bot, static _ => true, limit.Token)).Player;

        await _server.Sessions.Single().CloseAsync(ErrorCode.Forbidden, "Kicked.");
        PlayerState again = await SeenAsync(bot, player => player.Player != first, limit.Token);

        Assert.Equal(("bot", 0u), (again.Name, again.LastInput));
        Task playing = bot.PlayAsync(TimeSpan.FromMilliseconds(100), limit.Token);
        await SeenAsync(bot, static player => player.LastInput == 2, limit.Token);
        await playing;
    }

    private async Task<FastPortClient> ConnectAsync(int window = 256)
    {
        var options = new FastPortClientOptions { Endpoint = Endpoint };
        options.Session.StreamWindowMessages = window;
        var client = new FastPortClient(options);
        await client.ConnectAsync();
        return client;
    }

    private static async Task<ErrorCode> RefusedAsync(GameClient game, string name) =>
        (await Assert.ThrowsAsync<RequestFailedException>(() => game.JoinAsync(new JoinRequest { Name = name }))).Code;

    // The loop has begun the tick; what a watcher has seen is complete.
    private Task TickAsync()
    {
        ulong before = _loop.Ticks;
        _time.Advance(Tick);
        return Patience.UntilAsync(() => _loop.Ticks > before, "the game has ticked");
    }

    // Begins to watch, with the snapshot of the last tick.
    private async Task<IAsyncEnumerator<Snapshot>> WatchAsync(GameClient game, CancellationToken cancellationToken)
    {
        IAsyncEnumerator<Snapshot> snapshots =
            game.WatchAsync(new WatchRequest(), cancellationToken: cancellationToken).GetAsyncEnumerator(cancellationToken);
        Task<bool> first = snapshots.MoveNextAsync().AsTask();
        while (!first.IsCompleted)
        {
            await TickAsync();
        }

        Assert.True(await first);
        while (snapshots.Current.Tick < _loop.Ticks)
        {
            Assert.True(await snapshots.MoveNextAsync());
        }

        return snapshots;
    }

    // Lets ticks come until the bot has seen itself so.
    private async Task<PlayerState> SeenAsync(Bot bot, Func<PlayerState, bool> condition, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (bot.Self is { } self && condition(self))
            {
                return self;
            }

            cancellationToken.ThrowIfCancellationRequested();
            await TickAsync();
        }
    }
}
