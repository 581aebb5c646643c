using System.Net.Sockets;
using Google.Protobuf.WellKnownTypes;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Protocol.Tests.Diagnostics;

public sealed class ServerStatusTests
{
    [Fact]
    public async Task The_figures_are_those_of_the_counters_and_of_the_latencies()
    {
        await using Served served = await Served.StartAsync(allow: null);
        for (int i = 0; i < 20; i++)
        {
            await served.Client.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser);
        }

        ServerStatus status = await served.AskAsync();

        Assert.Equal("plant", status.ServerName);
        Assert.Equal((1u, 1u, 1u), (status.ConnectionsOpen, status.SessionsOpen, status.ConnectionsAccepted));
        MessageLatency echo = Assert.Single(status.Latencies, static type => type.Name == "Echo");
        Assert.Equal(20u, echo.Counts.Aggregate(0UL, static (sum, count) => sum + count));
        Assert.Equal(echo.Nanoseconds.Count, echo.Counts.Count);
        Assert.Equal(echo.Nanoseconds.Order(), echo.Nanoseconds);
    }

    [Fact]
    public async Task Each_event_loop_has_its_idle_time()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Event loops are on Linux only.");
        await using Served served = await Served.StartAsync(allow: null, transport: "Epoll");
        int loops = served.Server.ReadLoad().LoopIdleTimes.Count;

        await Patience.UntilAsync(async () => (await served.AskAsync()).LoopIdleUs.Any(static idle => idle > 0), "a loop has been idle");

        ServerStatus status = await served.AskAsync();
        Assert.InRange(loops, 1, int.MaxValue);
        Assert.Equal(loops, status.LoopIdleUs.Count);
        Assert.Equal(0u, status.SlowConsumers);
    }

    [Fact]
    public async Task Whoever_is_not_allowed_is_answered_Forbidden()
    {
        await using Served served = await Served.StartAsync(static _ => false);

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(served.AskAsync);

        Assert.Equal(ErrorCode.Forbidden, e.Code);
        await served.Client.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://status")]
    public async Task A_peer_on_this_machine_is_local(string endpoint)
    {
        bool? isLocal = null;
        await using Served served = await Served.StartAsync(
            session =>
            {
                isLocal = ServerStatusHandler.IsLocal(session);
                return true;
            },
            endpoint: endpoint);

        await served.AskAsync();

        Assert.True(isLocal);
    }

    [Fact]
    public async Task A_client_that_a_proxy_on_this_machine_does_not_tell_is_not_local()
    {
        var isLocal = new TaskCompletionSource<bool>();
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, TrustedProxies = ["127.0.0.1"] });
        server.SessionOpened += session => isLocal.SetResult(ServerStatusHandler.IsLocal(session));
        await server.StartAsync();
        using var proxy = new TcpClient();
        await proxy.ConnectAsync("127.0.0.1", server.Endpoints[0].Port);

        await proxy.GetStream().WriteAsync("PROXY UNKNOWN\r\n"u8.ToArray());

        Assert.False(await isLocal.Task.WaitAsync(Patience.Token));
    }

    [Fact]
    public async Task The_time_since_the_start_does_not_follow_the_wall_clock()
    {
        var clock = new SetClock();
        await using Served served = await Served.StartAsync(allow: null, clock);
        ServerStatus before = await served.AskAsync();
        clock.Set = TimeSpan.FromHours(2);

        ServerStatus after = await served.AskAsync();

        Assert.InRange(after.UptimeMs, before.UptimeMs, (ulong)TimeSpan.FromHours(1).TotalMilliseconds);
    }

    private sealed class SetClock : TimeProvider
    {
        public TimeSpan Set { get; set; }

        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Set;
    }

    private sealed class Served(IHost host, FastPortClient client) : IAsyncDisposable
    {
        public FastPortClient Client => client;

        public FastPortServer Server => host.Services.GetRequiredService<FastPortServer>();

        public static async Task<Served> StartAsync(
            Func<Session, bool>? allow, TimeProvider? time = null, string endpoint = "tcp://127.0.0.1:0", string transport = "Auto")
        {
            HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
            builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
            {
                ["FastPort:Endpoints:0"] = endpoint,
                ["FastPort:ServerName"] = "plant",
                ["FastPort:Transport"] = transport,
            });
            builder.Services.AddSingleton(time ?? TimeProvider.System);
            builder.Services.AddFastPort(builder.Configuration)
                .Map(static handlers => handlers.MapDiagnostics())
                .MapStatus(allow);
            IHost host = builder.Build();
            await host.StartAsync();
            var client = new FastPortClient(new FastPortClientOptions
            {
                Endpoint = host.Services.GetRequiredService<FastPortServer>().Endpoints[0].ToString(),
            });
            await client.ConnectAsync();
            return new Served(host, client);
        }

        public Task<ServerStatus> AskAsync() => client.RequestAsync(DiagnosticType.Status, new Empty(), ServerStatus.Parser);

        public async ValueTask DisposeAsync()
        {
            await client.DisposeAsync();
            await host.StopAsync();
            host.Dispose();
        }
    }
}
