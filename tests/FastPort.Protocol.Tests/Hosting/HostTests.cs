using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

public sealed class HostTests
{
    [Fact]
    public async Task The_server_starts_and_stops_with_the_host()
    {
        using IHost host = TestHost.Build(builder => builder.Map(handlers => handlers.MapDiagnostics()));
        var server = host.Services.GetRequiredService<FastPortServer>();
        Assert.Empty(server.Endpoints);
        await host.StartAsync();
        Endpoint endpoint = Assert.Single(server.Endpoints);
        await using FastPortClient client = await Loopback.ConnectAsync(server);
        await client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);
        Session session = client.Session!;

        await host.StopAsync();

        Assert.Equal(CloseKind.PeerClosed, (await session.Closed.WaitAsync(Loopback.Soon)).Kind);
        Assert.Equal(0, server.ConnectionCount);
        await using var late = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint.ToString() });
        await Assert.ThrowsAsync<EndpointException>(() => late.ConnectAsync());
    }

    [Fact]
    public async Task A_request_in_flight_is_answered_before_the_host_has_stopped()
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestHost host = await TestHost.StartAsync(builder => builder.Map(handlers => handlers.MapQueued(0x1000, async context =>
        {
            started.SetResult();
            await release.Task;
            context.Reply([7]);
        })));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);
        Task<byte[]> request = client.RequestAsync(0x1000, ReadOnlyMemory<byte>.Empty);
        await started.Task.WaitAsync(Loopback.Soon);

        Task stop = host.Host.StopAsync();
        release.SetResult();

        Assert.Equal([7], await request.WaitAsync(Loopback.Soon));
        await stop.WaitAsync(Loopback.Soon);
    }

    [Fact]
    public async Task The_servers_own_timeout_bounds_its_stop_and_not_the_hosts()
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var patience = new HostPatience();
        await using TestHost host = await TestHost.StartAsync(
            builder =>
            {
                builder.Services.Configure<HostOptions>(static o => o.ShutdownTimeout = TimeSpan.FromMilliseconds(20));
                builder.Map(handlers => handlers.MapQueued(0x1000, async context =>
                {
                    started.SetResult();
                    await release.Task;
                    context.Reply([7]);
                }));

                // After the server's service, so asked to stop before it, with the same token.
                builder.Services.AddSingleton<IHostedService>(patience);
            },
            ("FastPort:ShutdownTimeout", "00:10:00"));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);
        Task<byte[]> request = client.RequestAsync(0x1000, ReadOnlyMemory<byte>.Empty);
        await started.Task.WaitAsync(Loopback.Soon);

        Task stop = host.Host.StopAsync();
        await patience.Ended.Task.WaitAsync(Loopback.Soon);
        release.SetResult();

        Assert.Equal([7], await request.WaitAsync(Loopback.Soon));
        await stop.WaitAsync(Loopback.Soon);
    }

    [Fact]
    public async Task A_taken_port_stops_the_start_with_an_error_that_names_it()
    {
        await using TestHost first = await TestHost.StartAsync();
        string taken = first.Server.Endpoints[0].ToString();
        using IHost second = TestHost.Build(settings: [("FastPort:Endpoints:0", taken)]);

        EndpointException failure = await Assert.ThrowsAsync<EndpointException>(() => second.StartAsync());

        Assert.Contains(taken, failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_has_one_server()
    {
        InvalidOperationException failure = Assert.Throws<InvalidOperationException>(
            () => TestHost.Build(builder => builder.Services.AddFastPort(new ConfigurationBuilder().Build())));

        Assert.Contains("already", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Hooks_get_the_hosts_services()
    {
        await using TestHost host = await TestHost.StartAsync(builder => builder
            .Map(handlers => handlers.MapDiagnostics())
            .ConfigureComponents((services, components) => components.LatencyStats = services.GetRequiredService<LatencyStats>()));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);
        await client.RequestAsync(DiagnosticType.SinkReport, Loopback.Message("x"), SinkReport.Parser);

        // The second message began when the first had been measured: one session's inline handlers run one after the other.
        LatencyScopeReport echo = host.Host.Services.GetRequiredService<LatencyStats>().Read().Types[0];
        Assert.Equal("Echo", echo.Name);
        Assert.Equal(1, echo.LifetimeCount);
    }

    /// <summary>Says when the host's time for stopping has run out.</summary>
    private sealed class HostPatience : IHostedLifecycleService
    {
        public TaskCompletionSource Ended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StoppingAsync(CancellationToken cancellationToken)
        {
            cancellationToken.Register(() => Ended.TrySetResult());
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
