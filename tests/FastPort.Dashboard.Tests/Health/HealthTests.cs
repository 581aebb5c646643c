using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Dashboard.Health;
using FastPort.Dashboard.Hosting;
using FastPort.Dashboard.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Dashboard.Tests.Health;

/// <summary>What an orchestrator or a load balancer sees over HTTP.</summary>
public sealed class HealthTests
{
    private const ushort Held = 0x1000;
    private const string Ready = "Healthy\nfastport-server: Healthy";
    private const string NotReady = "Unhealthy\nfastport-server: Unhealthy";

    [Theory]
    [InlineData("/health/live", "Healthy")]
    [InlineData("/health/ready", "Healthy\nfastport-server: Healthy")]
    public async Task A_server_that_listens_is_healthy_for_everybody(string path, string expected)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Host = "some.other.name";

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(expected, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
        Assert.True(answer.Headers.CacheControl?.NoStore);

        // It is the health alone that needs no token.
        using HttpResponseMessage metrics = await host.Http.GetAsync("/metrics", TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.Unauthorized, metrics.StatusCode);
    }

    [Fact]
    public async Task A_server_is_not_ready_before_it_listens()
    {
        var early = new EarlyService();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<IHostedService>(provider =>
        {
            early.Dashboard = provider.GetRequiredService<DashboardServer>();
            return early;
        }));

        Assert.Equal((HttpStatusCode.ServiceUnavailable, NotReady), early.Seen);
        Assert.Equal(HttpStatusCode.OK, (await HealthHost.GetAsync(host.Http, "/health/ready")).Status);
    }

    [Fact]
    public async Task Readiness_ends_with_the_beginning_of_a_drain_and_life_goes_on()
    {
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using HealthHost host = await HealthHost.StartAsync(map: handlers => handlers.MapQueued(Held, async _ =>
        {
            begun.SetResult();
            await held.Task;
        }));
        await using FastPortClient client = await ConnectAsync(host.Server);
        Task request = client.RequestAsync(Held, ReadOnlyMemory<byte>.Empty);
        await begun.Task.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.OK, (await host.ReadyAsync()).Status);

        // The answer in flight keeps the server from ending, and the dashboard with it.
        Task stopping = host.StopAsync();
        await Patience.UntilAsync(() => host.Server.IsStopping, "the server stops");

        Assert.Equal((HttpStatusCode.ServiceUnavailable, NotReady), await host.ReadyAsync());
        Assert.Equal((HttpStatusCode.OK, "Healthy"), await host.LiveAsync());
        Assert.False(stopping.IsCompleted);
        held.SetResult();
        await request;
        await stopping;
    }

    [Fact]
    public async Task Readiness_ends_a_drain_delay_before_connections_are_refused()
    {
        var time = new FakeTimeProvider();
        await using HealthHost host = await HealthHost.StartAsync(
            services => services.AddSingleton<TimeProvider>(time), null, ("FastPort:DrainDelay", "00:00:03"));
        Assert.Equal(HttpStatusCode.OK, (await host.ReadyAsync()).Status);

        Task stopping = host.StopAsync();
        await Patience.UntilAsync(() => host.Server.IsStopping, "the server stops");

        Assert.Equal((HttpStatusCode.ServiceUnavailable, NotReady), await host.ReadyAsync());
        await using (await ConnectAsync(host.Server))
        {
            Assert.False(stopping.IsCompleted);
        }

        // The stop may not have begun to wait yet, and by this clock has other waits after this one.
        while (!stopping.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(3));
            await Task.Yield();
        }

        await stopping;
    }

    [Fact]
    public async Task A_server_whose_loop_does_not_come_back_from_a_handler_is_unhealthy()
    {
        var time = new FakeTimeProvider();
        using var held = new ManualResetEventSlim();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using HealthHost host = await HealthHost.StartAsync(
            services => services.AddSingleton<TimeProvider>(time),
            handlers => handlers.MapInline(Held, (ref InlineRequest _) =>
            {
                begun.SetResult();
                held.Wait(Patience.Limit);
            }),
            ("FastPort:Loops", "1"),
            ("FastPort:Transport", "Epoll"));
        await using FastPortClient client = await ConnectAsync(host.Server);
        Assert.Equal(HttpStatusCode.OK, (await host.ReadyAsync()).Status);
        Task request = client.RequestAsync(Held, ReadOnlyMemory<byte>.Empty);
        await begun.Task.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);
        time.Advance(ServerHealthCheck.Window);

        // The loop was idle after the first reading, and has not been after the second.
        Assert.Equal((HttpStatusCode.OK, Ready), await host.ReadyAsync());
        time.Advance(ServerHealthCheck.Window);
        Assert.Equal((HttpStatusCode.ServiceUnavailable, "Unhealthy\nfastport-server: Unhealthy"), await host.ReadyAsync());
        held.Set();
        await request;
    }

    [Fact]
    public async Task A_server_whose_loop_has_work_without_a_pause_is_degraded()
    {
        var time = new FakeTimeProvider();
        bool ended = false;
        await using HealthHost host = await HealthHost.StartAsync(
            services => services.AddSingleton<TimeProvider>(time), null, ("FastPort:Loops", "1"), ("FastPort:Transport", "Epoll"));
        FastPortClient[] clients = [.. await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => ConnectAsync(host.Server)))];
        Assert.Equal(HttpStatusCode.OK, (await host.ReadyAsync()).Status);

        // Each piece of work leaves another one. On several connections: a tick may hold one of them up for a moment.
        host.Server.Sessions.ToList().ForEach(session => Work(session.Connection));
        await WorksOnAsync();
        time.Advance(ServerHealthCheck.Window);
        Assert.Equal((HttpStatusCode.OK, Ready), await host.ReadyAsync());
        await WorksOnAsync();
        time.Advance(ServerHealthCheck.Window);

        Assert.Equal((HttpStatusCode.OK, "Degraded\nfastport-server: Degraded"), await host.ReadyAsync());
        Volatile.Write(ref ended, true);
        await Task.WhenAll(clients.Select(static client => client.DisposeAsync().AsTask()));

        // Two rounds: the first may have begun before, and the loop's pause ends within it.
        async Task WorksOnAsync()
        {
            long rounds = host.Server.ReadLoad().LoopRounds[0];
            await Patience.UntilAsync(() => host.Server.ReadLoad().LoopRounds[0] > rounds + 1, "the loop works on");
        }

        void Work(object? state)
        {
            if (!Volatile.Read(ref ended))
            {
                ((Connection)state!).Post(Work, state);
            }
        }
    }

    [Fact]
    public async Task A_client_is_healthy_while_it_is_connected()
    {
        await using HealthHost host = await HealthHost.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = host.Server.Endpoints[0].ToString() });
        var services = new ServiceCollection();
        services.AddLogging();
        services.AddSingleton(client);
        services.AddHealthChecks().AddFastPortClient();
        await using ServiceProvider provider = services.BuildServiceProvider();
        var health = provider.GetRequiredService<HealthCheckService>();

        Assert.Equal(HealthStatus.Unhealthy, await StatusAsync());
        await client.ConnectAsync(TestContext.Current.CancellationToken);
        Assert.Equal(HealthStatus.Healthy, await StatusAsync());
        await client.CloseAsync();
        Assert.Equal(HealthStatus.Unhealthy, await StatusAsync());

        async Task<HealthStatus> StatusAsync() =>
            (await health.CheckHealthAsync(TestContext.Current.CancellationToken)).Entries["fastport-client"].Status;
    }

    [Fact]
    public async Task A_check_that_hangs_is_given_up()
    {
        var time = new FakeTimeProvider();
        var check = new CountingCheck();
        await using HealthHost host = await HealthHost.StartAsync(services =>
        {
            services.AddSingleton<TimeProvider>(time);
            services.AddHealthChecks().AddCheck("counting", check);
        });
        Task<(HttpStatusCode Status, string Text)> asked = host.ReadyAsync();
        await check.Began.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);

        time.Advance(SharedHealth.LongestRun);

        Assert.Equal((HttpStatusCode.ServiceUnavailable, "Unhealthy"), await asked);
        check.Release();
        Assert.Equal(HttpStatusCode.OK, (await host.ReadyAsync()).Status);
        Assert.Equal(2, check.Runs);
    }

    [Fact]
    public async Task All_who_ask_within_a_second_get_one_report()
    {
        var time = new FakeTimeProvider();
        var check = new CountingCheck();
        await using HealthHost host = await HealthHost.StartAsync(services =>
        {
            services.AddSingleton<TimeProvider>(time);
            services.AddHealthChecks().AddCheck("counting", check);
        });

        // The first hundred come while the check runs.
        Task<(HttpStatusCode Status, string Text)>[] asked = [.. Enumerable.Range(0, 100).Select(_ => host.ReadyAsync())];
        await check.Began.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);
        check.Release();
        Assert.All(await Task.WhenAll(asked), static one => Assert.Equal(HttpStatusCode.OK, one.Status));
        Assert.StartsWith("Degraded\ncounting: Degraded", (await host.ReadyAsync()).Text, StringComparison.Ordinal);
        Assert.Equal(1, check.Runs);

        // Another path has other checks.
        Assert.Equal("Healthy", (await host.LiveAsync()).Text);
        time.Advance(SharedHealth.Age);
        await host.ReadyAsync();
        await host.ReadyAsync();
        Assert.Equal(2, check.Runs);
    }

    [Fact]
    public async Task Connections_of_another_address_without_a_request_take_nobodys_place()
    {
        const int Count = 600;
        await using HealthHost host = await HealthHost.StartAsync();
        List<Socket> silent = [];
        try
        {
            for (int i = 0; i < Count; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                silent.Add(socket);
                socket.Bind(new IPEndPoint(IPAddress.Parse("127.0.0.2"), 0));
                await socket.ConnectAsync(IPAddress.Loopback, host.DashboardPort, TestContext.Current.CancellationToken);
            }

            Task[] ends = [.. silent.Select(EndAsync)];
            await Patience.UntilAsync(
                () => ends.Count(static end => end.IsCompleted) >= Count - WebHost.MaxConnectionsPerAddress, "most are refused");
            Assert.Equal((HttpStatusCode.OK, Ready), await host.ReadyAsync());

            // The others are closed after a while.
            await Task.WhenAll(ends).WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);
        }
        finally
        {
            silent.ForEach(static socket => socket.Dispose());
        }

        static async Task EndAsync(Socket socket)
        {
            try
            {
                Assert.Equal(0, await socket.ReceiveAsync(new byte[1]));
            }
            catch (SocketException)
            {
                // It was reset.
            }
        }
    }

    [Fact]
    public async Task An_application_may_add_the_check_itself()
    {
        await using HealthHost host = await HealthHost.StartAsync(static services => services.AddHealthChecks().AddFastPortServer());

        Assert.Equal((HttpStatusCode.OK, Ready), await host.ReadyAsync());
    }

    [Theory]
    [InlineData("", HttpStatusCode.OK, "Healthy\nopc-ua-endpoints: Healthy\nfastport-server: Healthy")]
    [InlineData(
        "opc.tcp://127.0.0.1:1", HttpStatusCode.ServiceUnavailable, "Unhealthy\nopc-ua-endpoints: Unhealthy\nfastport-server: Healthy")]
    public async Task A_bridge_is_as_healthy_as_its_endpoints(string endpoint, HttpStatusCode status, string text)
    {
        (string, string)[] environment = endpoint.Length == 0
            ? []
            : [("OpcBridge__Endpoints__line1__EndpointUrl", endpoint), ("OpcBridge__Endpoints__line1__Below__0", "i=85")];
        await using ServerProcess bridge = DashboardPrograms.StartBridge(environment);
        using var http = new HttpClient { BaseAddress = await DashboardPrograms.DashboardAsync(bridge) };

        Assert.Equal((status, text), await HealthHost.GetAsync(http, "/health/ready"));
    }

    private static async Task<FastPortClient> ConnectAsync(FastPortServer server)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() });
        await client.ConnectAsync();
        return client;
    }

    /// <summary>Counts its runs, of which the first waits for <see cref="Release"/>.</summary>
    private sealed class CountingCheck : IHealthCheck
    {
        private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _began = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _runs;

        public int Runs => Volatile.Read(ref _runs);

        public Task Began => _began.Task;

        public void Release() => _released.TrySetResult();

        public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
        {
            Interlocked.Increment(ref _runs);
            _began.TrySetResult();
            await _released.Task;
            return HealthCheckResult.Degraded("counted");
        }
    }

    /// <summary>Asks for the readiness before the server starts.</summary>
    private sealed class EarlyService : IHostedService
    {
        public DashboardServer? Dashboard { get; set; }

        public (HttpStatusCode Status, string Text) Seen { get; private set; }

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            using var http = new HttpClient { BaseAddress = Dashboard!.Url };
            Seen = await HealthHost.GetAsync(http, "/health/ready");
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
