using FastPort.Core.Tests.Support;
using FastPort.Transports.Epoll;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>What an option allows, the system and both transports take: connections work at both ends of every range.</summary>
public sealed class OptionRangeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    // Of the deadlines zero is the lower end: off.
    private static readonly (string Name, Action<SessionOptions> Low, Action<SessionOptions> High)[] OfSessions =
    [
        ("KeepAlive", static o => o.KeepAlive = TimeSpan.Zero, static o => o.KeepAlive = 32_767 * Second),
        ("KeepAlive in ticks", static o => o.KeepAlive = TimeSpan.FromTicks(1), static o => o.KeepAlive = 32_766.5 * Second),
        ("UserTimeout", static o => o.UserTimeout = TimeSpan.Zero, static o => o.UserTimeout = Day),
        ("HandshakeTimeout", static o => o.HandshakeTimeout = TimeSpan.Zero, static o => o.HandshakeTimeout = Day),
        ("AuthorizationTimeout", static o => o.AuthorizationTimeout = TimeSpan.Zero, static o => o.AuthorizationTimeout = Day),
        ("FrameTimeout", static o => o.FrameTimeout = TimeSpan.Zero, static o => o.FrameTimeout = Day),
        ("IdleTimeout", static o => o.IdleTimeout = TimeSpan.Zero, static o => o.IdleTimeout = Day),
        ("WriteTimeout", static o => o.WriteTimeout = TimeSpan.Zero, static o => o.WriteTimeout = Day),
        ("CloseTimeout", static o => o.CloseTimeout = Second, static o => o.CloseTimeout = Day),
        ("HeartbeatInterval", static o => o.HeartbeatInterval = TimeSpan.Zero, static o => o.HeartbeatInterval = Day),
        ("SlowHandlerThreshold", static o => o.SlowHandlerThreshold = TimeSpan.Zero, static o => o.SlowHandlerThreshold = Day),
        ("MinimumSendRate", static o => o.MinimumSendRate = 0, static o => o.MinimumSendRate = 1 << 30),
        ("MaxFrameBytes", static o => o.MaxFrameBytes = 1024, static o => o.MaxFrameBytes = 1 << 28),
        ("SendQueueBytes", static o => o.SendQueueBytes = 4096, static o => o.SendQueueBytes = 1 << 28),
        ("MaxInFlightRequests", static o => o.MaxInFlightRequests = 1, static o => o.MaxInFlightRequests = 1_000_000),
        ("MaxQueuedBytes", static o => o.MaxQueuedBytes = 1024, static o => o.MaxQueuedBytes = 1 << 30),
        ("MaxStreams", static o => o.MaxStreams = 0, static o => o.MaxStreams = 1_000_000),
        ("StreamWindowMessages", static o => o.StreamWindowMessages = 1, static o => o.StreamWindowMessages = 1_000_000),
        ("StreamWindowBytes", static o => o.StreamWindowBytes = 1, static o => o.StreamWindowBytes = 256 * 1024 * 1024),
        ("MaxConcurrency", static o => o.MaxConcurrency = 1, static o => o.MaxConcurrency = 10_000),
    ];

    private static readonly (string Name, Action<FastPortServerOptions> Low, Action<FastPortServerOptions> High)[] OfServers =
    [
        ("MaxConnections", static o => o.MaxConnections = 1, static o => o.MaxConnections = 1_000_000),
        ("MaxBufferedMegabytes", static o => o.MaxBufferedMegabytes = 1, static o => o.MaxBufferedMegabytes = 1_048_576),
        ("StageTimeout", static o => o.StageTimeout = TimeSpan.Zero, static o => o.StageTimeout = Day),
        ("RelayTimeout", static o => o.Routing.RelayTimeout = TimeSpan.Zero, static o => o.Routing.RelayTimeout = Day),
        ("ShutdownTimeout", static o => o.ShutdownTimeout = o.ShutdownGrace = TimeSpan.Zero, static o =>
            o.ShutdownTimeout = TimeSpan.FromHours(1)),
    ];

    private static readonly (string Name, Action<FastPortClientOptions> Low, Action<FastPortClientOptions> High)[] OfClients =
    [
        ("RequestTimeout", static o => o.RequestTimeout = TimeSpan.Zero, static o => o.RequestTimeout = Day),
        ("CloseTimeout", static o => o.CloseTimeout = TimeSpan.Zero, static o => o.CloseTimeout = Day),
        ("ConnectTimeout", static o => o.ConnectTimeout = Second, static o => o.ConnectTimeout = Day),
        ("MaxReconnectDelay", static o => o.MaxReconnectDelay = o.ReconnectDelay, static o => o.MaxReconnectDelay = Day),
    ];

    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task Connections_work_at_both_ends_of_every_range(TransportKind transport)
    {
        Assert.SkipUnless(EpollTransport.IsSupported || transport != TransportKind.Epoll, "Event loops are Linux's.");
        List<string> failures = [];
        foreach ((string name, Action<SessionOptions> low, Action<SessionOptions> high) in OfSessions)
        {
            await TryAsync($"{name}, low", o => low(o.Session), o => low(o.Session));
            await TryAsync($"{name}, high", o => high(o.Session), o => high(o.Session));
        }

        foreach ((string name, Action<FastPortServerOptions> low, Action<FastPortServerOptions> high) in OfServers)
        {
            await TryAsync($"{name}, low", low, static _ => { });
            await TryAsync($"{name}, high", high, static _ => { });
        }

        foreach ((string name, Action<FastPortClientOptions> low, Action<FastPortClientOptions> high) in OfClients)
        {
            await TryAsync($"{name}, low", static _ => { }, low);
            await TryAsync($"{name}, high", static _ => { }, high);
        }

        Assert.Empty(failures);

        async Task TryAsync(string what, Action<FastPortServerOptions> setServer, Action<FastPortClientOptions> setClient)
        {
            try
            {
                await EchoAsync(transport, setServer, setClient);
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                failures.Add($"{what}: {e.Message}");
            }
        }
    }

    private static async Task EchoAsync(
        TransportKind transport, Action<FastPortServerOptions> setServer, Action<FastPortClientOptions> setClient)
    {
        await using TestServer server = await TestServer.StartAsync(options: options =>
        {
            options.Transport = transport;
            setServer(options);
        });
        var clientOptions = new FastPortClientOptions { Endpoint = $"{server.Endpoint}", Transport = transport, Reconnect = false };
        setClient(clientOptions);
        await using var client = new FastPortClient(clientOptions);
        await client.ConnectAsync(Patience.Token);
        await client.RequestAsync(TestServer.Echo, new byte[] { 1, 2, 3 }, cancellationToken: Patience.Token);
    }
}
