using System.Net;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>The congestion control of both ends, asked of the sockets themselves.</summary>
public sealed class CongestionControlTests
{
    private const string Kernel = "/proc/sys/net/ipv4/";

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task On_loopback_nobody_paces(TransportKind transport)
    {
        await using TestServer server = await StartAsync(transport);
        await using FastPortClient client = await ConnectAsync(server, transport);

        Assert.Equal(["reno", "reno"], Ends(server));
    }

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_configured_one_holds_on_loopback_too(TransportKind transport)
    {
        // Every kernel has reno, and nearly every one a second.
        string other = Allowed().FirstOrDefault(static name => name != "reno") ?? "reno";
        await using TestServer server = await StartAsync(transport, o => o.Session.CongestionControl = other);
        await using FastPortClient client = await ConnectAsync(server, transport, o => o.Session.CongestionControl = other);

        Assert.Equal([other, other], Ends(server));
    }

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_listener_on_every_address_leaves_the_system_s(TransportKind transport)
    {
        await using TestServer server = await StartAsync(transport, static o =>
        {
            o.Endpoints.Clear();
            o.Endpoints.Add("tcp://0.0.0.0:0");
        });
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoint with { Host = "127.0.0.1" });
        await peer.PingAsync();

        int accepted = Assert.Single(OwnSockets.AcceptedAt(new IPEndPoint(IPAddress.Loopback, server.Endpoint.Port)));
        Assert.Equal(File.ReadAllText(Kernel + "tcp_congestion_control").Trim(), OwnSockets.CongestionControlOf(accepted));
    }

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task One_that_the_system_does_not_have_is_refused_by_name(TransportKind transport)
    {
        var options = new FastPortServerOptions { Transport = transport };
        options.Endpoints.Add("tcp://127.0.0.1:0");
        options.Session.CongestionControl = "turtle";
        await using var refused = new FastPortServer(options, new MessageHandlers());
        await using TestServer server = await StartAsync(transport);

        var atStart = await Assert.ThrowsAsync<EndpointException>(() => refused.StartAsync());
        var atConnect = await Assert.ThrowsAsync<EndpointException>(
            () => ConnectAsync(server, transport, static o => o.Session.CongestionControl = "turtle"));

        string allowed = string.Join(", ", Allowed());
        Assert.Equal(Sentence("tcp://127.0.0.1:0"), atStart.Message);
        Assert.Equal(Sentence(server.Endpoint.ToString()), atConnect.Message);

        string Sentence(string endpoint) =>
            $"Cannot use CongestionControl 'turtle' for {endpoint}: this system does not have it or does not allow it. It allows "
            + $"{allowed}.";
    }

    [LinuxTheory]
    [InlineData("")]
    [InlineData("sixteen-letters-")]
    [InlineData("two words")]
    public void What_can_be_no_name_is_a_wrong_option(string name)
    {
        var options = new FastPortServerOptions();
        options.Session.CongestionControl = name;

        string shown = name.Length == 0 ? "empty" : $"'{name}'";
        Assert.Equal(
            [$"FastPort:Session:CongestionControl is {shown}; give one of net.ipv4.tcp_allowed_congestion_control, such as bbr or cubic."],
            options.Validate());
    }

    private static Task<TestServer> StartAsync(TransportKind transport, Action<FastPortServerOptions>? more = null) =>
        TestServer.StartAsync(options: o =>
    {
        o.Transport = transport;
        more?.Invoke(o);
    });

    private static async Task<FastPortClient> ConnectAsync(
        TestServer server, TransportKind transport, Action<FastPortClientOptions>? more = null)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoint.ToString(), Transport = transport };
        more?.Invoke(options);
        var client = new FastPortClient(options);
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

    private static string[] Ends(TestServer server)
    {
        var address = new IPEndPoint(IPAddress.Loopback, server.Endpoint.Port);
        return [.. OwnSockets.AcceptedAt(address).Concat(OwnSockets.ConnectedTo(address)).Select(OwnSockets.CongestionControlOf)];
    }

    private static string[] Allowed() =>
        File.ReadAllText(Kernel + "tcp_allowed_congestion_control").Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
}
