using System.Threading.Channels;
using FastPort.Protocol;
using FastPort.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Walking;
using Xunit;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>The snippets of docs/services.md.</summary>
public sealed class ServiceSnippets
{
    [Fact]
    public async Task A_program_calls_its_server()
    {
        Assert.Equal("at 1, 0", await RunAsync());
    }

    // docs: test
    [Fact]
    public async Task A_step_is_at_most_1_long()
    {
        await using TestServer test = await TestServer.StartAsync(
            builder => builder.MapService<MoveService>(ServiceLifetime.Singleton));
        var move = new MoveClient(test.Client);

        await Assert.ThrowsAsync<RequestFailedException>(() => move.WalkAsync(new Step { East = 2 }));
        await move.WalkAsync(new Step { North = 1 });

        Assert.Equal(new Position { North = 1 }, await move.LookAsync(new LookRequest()));
    }
    // docs: end

    // docs: substitute
    [Fact]
    public async Task A_scout_looks_before_it_walks()
    {
        string report = await Scout.ReportAsync(new StandingPlayer());

        Assert.Equal("5 east", report);
    }

    private sealed class StandingPlayer : IMoveClient
    {
        public Task<Position> LookAsync(
            LookRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
            Task.FromResult(new Position { East = 5 });
    }
    // docs: end

    [Fact]
    public async Task A_client_watches()
    {
        await using TestServer test = await TestServer.StartAsync(
            builder => builder.MapService<MoveService>(ServiceLifetime.Singleton));
        var move = new MoveClient(test.Client);
        await move.WalkAsync(new Step { North = 1 });

        Assert.Equal(["0, 1", "0, 1"], await WatchAsync(move));
    }

    private static async Task<List<string>> WatchAsync(IMoveClient move)
    {
        List<string> seen = [];
        // docs: watch
        await foreach (Position position in move.WatchAsync(new LookRequest()))
        {
            seen.Add($"{position.East}, {position.North}");
            if (seen.Count == 2)
            {
                break;
            }
        }
        // docs: end
        return seen;
    }

    [Fact]
    public async Task A_host_maps_a_service()
    {
        var services = new ServiceCollection();
        AddServer(services, new ConfigurationBuilder().Build());
        await using ServiceProvider provider = services.BuildServiceProvider();

        MessageHandlers handlers = provider.GetRequiredService<FastPortServer>().Handlers;
        Assert.Equal([0x1000, 0x1001, 0x1002], handlers.Types.Where(static type => type >= 0x1000));
    }

    [Fact]
    public async Task A_broadcast_runs_the_method_of_each_client()
    {
        await using TestServer test = await TestServer.StartAsync(static _ => { });
        var rested = Channel.CreateUnbounded<LookRequest>();
        MessageHandlers Handlers() => new MessageHandlers().MapService(new RestingPlayer(rested.Writer));
        await using FastPortClient first = await test.ConnectAsync(handlers: Handlers());
        await using FastPortClient second = await test.ConnectAsync(handlers: Handlers());
        var group = new SessionGroup();
        foreach (Session session in test.Server.Sessions)
        {
            group.Add(session);
        }

        // With the test's own client, which serves nothing.
        Assert.Equal(3, group.Broadcast(PlayerMethods.Rest.Type, new LookRequest()));

        await rested.Reader.ReadAsync(TestContext.Current.CancellationToken);
        await rested.Reader.ReadAsync(TestContext.Current.CancellationToken);
        Assert.All(test.Server.Sessions, static session => Assert.False(session.IsClosed));
    }

    private sealed class RestingPlayer(ChannelWriter<LookRequest> rested) : PlayerBase
    {
        public override ValueTask<Position> RestAsync(LookRequest request, RequestContext context)
        {
            rested.TryWrite(request);
            return ValueTask.FromResult(new Position());
        }
    }

    private static async Task<string> RunAsync()
    {
        // docs: program
        await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } });
        server.Handlers.MapService(new MoveService());
        await server.StartAsync();

        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() });
        await client.ConnectAsync();
        var move = new MoveClient(client);
        Position position = await move.WalkAsync(new Step { East = 1 }, timeout: TimeSpan.FromSeconds(5));
        Console.WriteLine($"at {position.East}, {position.North}");
        // docs: end
        return $"at {position.East}, {position.North}";
    }

    private static void AddServer(IServiceCollection services, IConfiguration configuration)
    {
        // docs: host
        services.AddFastPort(configuration).MapService<MoveService>(ServiceLifetime.Singleton);
        // docs: end
    }

    private static class Scout
    {
        public static async Task<string> ReportAsync(IMoveClient move) => $"{(await move.LookAsync(new LookRequest())).East} east";
    }
}

/// <summary>A server that calls its client.</summary>
public sealed class CallingServiceSnippet : MoveBase
{
    // docs: callback
    public override async ValueTask<Position> WalkAsync(Step request, RequestContext context)
    {
        var player = new PlayerClient(context.Session);
        return await player.RestAsync(new LookRequest(), cancellationToken: context.Aborted);
    }
    // docs: end
}
