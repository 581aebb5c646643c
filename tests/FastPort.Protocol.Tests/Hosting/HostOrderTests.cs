using System.Collections.Concurrent;
using FastPort.Connections;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>A server listens when the services of its host have started, and stops before they do, wherever they are registered.</summary>
public sealed class HostOrderTests
{
    private const ushort Held = 0x1000;
    private readonly string _endpoint = $"inproc://order-{Guid.NewGuid():N}";
    private readonly TaskCompletionSource _begun = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _release = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_service_sees_every_session_and_runs_until_the_last_has_ended(bool isBefore)
    {
        using IHost host = Build(services => services.AddSingleton<GameLoop>().AddHostedService(Loop), isBefore);
        GameLoop loop = Loop(host.Services);
        await host.StartAsync();
        Assert.Equal("refused", loop.SeenAtStart);
        await using FastPortClient client = await ConnectAsync();
        Task<byte[]> request = client.RequestAsync(Held, ReadOnlyMemory<byte>.Empty);
        await _begun.Task.WaitAsync(Loopback.Soon);

        Task stop = host.StopAsync();
        await Patience.UntilAsync(() => host.Services.GetRequiredService<FastPortServer>().IsStopping, "the server stops");
        Assert.True(host.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping.IsCancellationRequested);
        _release.SetResult();

        Assert.Equal([7], await request.WaitAsync(Loopback.Soon));
        await stop.WaitAsync(Loopback.Soon);
        Assert.Equal(["started", "opened", "closed", "stopped"], loop.Events);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_endpoint_that_cannot_be_bound_stops_the_start(bool isBefore)
    {
        await using var other = new FastPortServer(new FastPortServerOptions { Endpoints = [_endpoint] });
        await other.StartAsync();
        using IHost host = Build(services => services.AddSingleton<GameLoop>().AddHostedService(Loop), isBefore);

        EndpointException failure = await Assert.ThrowsAsync<EndpointException>(() => host.StartAsync());

        Assert.Contains(_endpoint, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task A_client_of_a_server_in_the_same_host_connects(bool isBefore, bool retries)
    {
        var connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using IHost host = Build(
            services => services
                .AddFastPortClient(new ConfigurationManager(), o => (o.Endpoint, o.RetryConnect) = (_endpoint, retries))
                .OnConnected((_, _) => connected.SetResult()),
            isBefore);

        await host.StartAsync().WaitAsync(Loopback.Soon);

        Assert.True(retries || host.Services.GetRequiredService<FastPortClient>().Session is not null);
        await connected.Task.WaitAsync(Loopback.Soon);
        await host.StopAsync().WaitAsync(Loopback.Soon);
    }

    [Fact]
    public async Task A_server_of_another_protocol_has_the_same_order()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration["ConnectionServer:Endpoints:0"] = "tcp://127.0.0.1:0";
        builder.Services.AddConnectionServer(
            builder.Configuration, static (_, _) => new PipeProtocol(static (_, _) => Task.CompletedTask, NullLogger.Instance));
        builder.Services.AddSingleton<EndpointReader>().AddHostedService(static provider => provider.GetRequiredService<EndpointReader>());
        using IHost host = builder.Build();

        await host.StartAsync();
        Assert.Single(host.Services.GetRequiredService<ConnectionServer>().Endpoints);
        await host.StopAsync();

        Assert.Equal([(0, false), (1, true)], host.Services.GetRequiredService<EndpointReader>().Seen);
    }

    private static GameLoop Loop(IServiceProvider provider) => provider.GetRequiredService<GameLoop>();

    private async Task<FastPortClient> ConnectAsync()
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = _endpoint, RequestTimeout = Loopback.Soon });
        try
        {
            await client.ConnectAsync();
            return client;
        }
        catch
        {
            await client.DisposeAsync();
            throw;
        }
    }

    private IHost Build(Action<IServiceCollection> add, bool isBefore)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Services.AddSingleton<Func<Task<FastPortClient>>>(ConnectAsync);
        if (isBefore)
        {
            add(builder.Services);
        }

        builder.Services
            .AddFastPort(builder.Configuration, o => o.Endpoints = [_endpoint])
            .Map(handlers => handlers.MapQueued(Held, async context =>
            {
                _begun.SetResult();
                await _release.Task;
                context.Reply([7]);
            }));
        if (!isBefore)
        {
            add(builder.Services);
        }

        return builder.Build();
    }

    /// <summary>Subscribes to the sessions when it starts, as a game does.</summary>
    private sealed class GameLoop(FastPortServer server, Func<Task<FastPortClient>> connect) : IHostedService
    {
        public ConcurrentQueue<string> Events { get; } = [];

        public string? SeenAtStart { get; private set; }

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            try
            {
                await using FastPortClient early = await connect();
            }
            catch (EndpointException)
            {
                SeenAtStart = "refused";
            }

            Events.Enqueue("started");
            server.SessionOpened += _ => Events.Enqueue("opened");
            server.SessionClosed += (_, _) => Events.Enqueue("closed");
        }

        public Task StopAsync(CancellationToken cancellationToken)
        {
            Events.Enqueue("stopped");
            return Task.CompletedTask;
        }
    }

    /// <summary>Notes how many endpoints the server has when this service starts and stops, and whether it is stopping.</summary>
    private sealed class EndpointReader(ConnectionServer server) : IHostedService
    {
        public ConcurrentQueue<(int Endpoints, bool IsStopping)> Seen { get; } = [];

        public Task StartAsync(CancellationToken cancellationToken)
        {
            Seen.Enqueue((server.Endpoints.Count, server.IsStopping));
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken)
        {
            Seen.Enqueue((server.Endpoints.Count, server.IsStopping));
            return Task.CompletedTask;
        }
    }
}
