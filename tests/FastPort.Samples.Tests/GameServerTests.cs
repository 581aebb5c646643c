using System.Threading.Channels;
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
    private readonly FastPortServer _server;
    private readonly GameLoop _loop;

    public GameServerTests()
    {
        var options = new GameOptions { TicksPerSecond = 1 };
        var inbox = new GameInbox();
        var handlers = new MessageHandlers();
        new GameHandlers(inbox, options).Map(handlers);
        _server = new FastPortServer(new FastPortServerOptions { Endpoints = ["tcp://127.0.0.1:0"] }, handlers);
        _loop = new GameLoop(_server, inbox, options, _time, NullLogger<GameLoop>.Instance);
    }

    private string Endpoint => _server.Endpoints[0].ToString();

    public async ValueTask InitializeAsync()
    {
        await _loop.StartAsync(CancellationToken.None);
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
        var snapshots = Channel.CreateUnbounded<Snapshot>();
        await using FastPortClient quiet = await JoinAsync("quiet", snapshots);
        await using FastPortClient loud = await JoinAsync("loud");

        await quiet.SendAsync(GameMessageType.Input, new Input { Sequence = 1, DirectionX = 1 });
        await HandledAsync(quiet);
        for (uint i = 1; i <= 10_000; i++)
        {
            await loud.SendAsync(GameMessageType.Input, new Input { Sequence = i, DirectionX = -1 });
        }

        await HandledAsync(loud);
        _time.Advance(Tick);

        using var limit = new CancellationTokenSource(Limit);
        Snapshot snapshot = await snapshots.Reader.ReadAsync(limit.Token);
        Assert.Equal(
            [("loud", 45, 10_000u), ("quiet", 55, 1u)],
            snapshot.Players.Select(static p => (p.Name, (int)p.X, p.LastInput)).Order());
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

    private async Task<FastPortClient> JoinAsync(string name, Channel<Snapshot>? snapshots = null)
    {
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(GameMessageType.Snapshot, Snapshot.Parser, (snapshot, _) => { snapshots?.Writer.TryWrite(snapshot); });
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = Endpoint }, pushes);
        await client.ConnectAsync();
        await client.RequestAsync(GameMessageType.Join, new Join { Name = name }, Joined.Parser);
        return client;
    }

    // The answer to a request comes after everything before it was handled.
    private static async Task HandledAsync(FastPortClient client)
    {
        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(GameMessageType.Join, new Join { Name = "again" }, Joined.Parser));
        Assert.Equal(ErrorCode.Forbidden, refused.Code);
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

            _time.Advance(Tick);
            await Task.Delay(TimeSpan.FromMilliseconds(10), cancellationToken);
        }
    }
}
