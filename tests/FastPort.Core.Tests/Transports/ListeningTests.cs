using System.Net.Sockets;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class ListeningTests
{
    [Fact]
    public async Task Several_endpoints_on_port_0_say_which_ports_they_got()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Endpoints.Add("tcp://localhost:0"));

        Assert.Equal(2, server.Server.Endpoints.Select(static e => e.Port).Distinct().Count());
        Assert.DoesNotContain(server.Server.Endpoints, static e => e.Port == 0);
        using RawPeer peer = await RawPeer.ConnectAsync(server.Server.Endpoints[1] with { Host = "127.0.0.1" });
        await peer.PingAsync();
        Assert.Equal(2, server.Log.WithId(3000).Count);
    }

    [Fact]
    public async Task IPv6_and_every_address_are_served()
    {
        if (!Socket.OSSupportsIPv6 || !LoopbackV6Works())
        {
            return;
        }

        await using TestServer server = await TestServer.StartAsync(options: static o =>
        {
            o.Endpoints.Clear();
            o.Endpoints.Add("tcp://[::1]:0");
            o.Endpoints.Add("tcp://*:0");
        });
        using RawPeer six = await server.ConnectAsync();
        await six.PingAsync();
        using RawPeer anySix = await RawPeer.ConnectAsync(server.Server.Endpoints[1] with { Host = "::1" });
        await anySix.PingAsync();
        using RawPeer anyFour = await RawPeer.ConnectAsync(server.Server.Endpoints[1] with { Host = "127.0.0.1" });
        await anyFour.PingAsync();
    }

    [Fact]
    public async Task A_port_in_use_is_named_and_no_other_endpoint_stays_bound()
    {
        await using TestServer first = await TestServer.StartAsync();
        using var port = new HeldPort();
        var free = Endpoint.Parse($"tcp://127.0.0.1:{port.Number}");
        var options = new FastPortServerOptions();
        options.Endpoints.Add(free.ToString());
        options.Endpoints.Add(first.Endpoint.ToString());
        await using var second = new FastPortServer(options, new MessageHandlers());

        var e = await Assert.ThrowsAsync<EndpointException>(() => second.StartAsync());

        Assert.Contains($"Cannot listen on {first.Endpoint}: the port is in use.", e.Message, StringComparison.Ordinal);
        Assert.Equal(first.Endpoint, e.Endpoint);
        Assert.Empty(second.Endpoints);
        await Assert.ThrowsAsync<SocketException>(() => RawPeer.ConnectAsync(free));
        using RawPeer peer = await first.ConnectAsync();
        await peer.PingAsync();
    }

    [Theory]
    [InlineData("tcp://192.0.2.1:0", "this machine has no such address")]
    [InlineData("tcp://no.such.host.invalid:0", "is not an address of this machine")]
    public async Task An_endpoint_that_cannot_be_served_is_named_with_the_reason(string endpoint, string reason)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add(endpoint);
        await using var server = new FastPortServer(options, new MessageHandlers());

        var e = await Assert.ThrowsAsync<EndpointException>(() => server.StartAsync());

        Assert.Contains(endpoint, e.Message, StringComparison.Ordinal);
        Assert.Contains(reason, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void An_endpoint_that_no_transport_serves_is_a_wrong_option()
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add("carrier-pigeon://coop");

        var e = Assert.Throws<FastPortOptionsException>(() => new FastPortServer(options, new MessageHandlers()));

        Assert.Contains("no transport serves 'carrier-pigeon://coop'", e.Message, StringComparison.Ordinal);
    }

    private static bool LoopbackV6Works()
    {
        try
        {
            using var socket = new Socket(AddressFamily.InterNetworkV6, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.IPv6Loopback, 0));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
