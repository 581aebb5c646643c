using System.Net;
using System.Text;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Proxies;

/// <summary>Servers behind a proxy that tells its clients' addresses.</summary>
public sealed class TrustedProxyTests
{
    private static readonly byte[] Header = Encoding.ASCII.GetBytes("PROXY TCP4 192.0.2.7 192.0.2.1 4711 6628\r\n");

    [Theory]
    [InlineData(TransportKind.Epoll, false)]
    [InlineData(TransportKind.Epoll, true)]
    [InlineData(TransportKind.Sockets, false)]
    [InlineData(TransportKind.Sockets, true)]
    public async Task The_clients_address_counts_and_its_bytes_follow(TransportKind transport, bool inOnePiece)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        await using TestServer server = await StartAsync(o => o.Transport = transport);
        using RawPeer peer = await server.ConnectAsync();
        byte[] first = [.. Header, .. Wire.HelloRequest(1)];

        if (inOnePiece)
        {
            await peer.SendAsync(first);
        }
        else
        {
            foreach (byte one in first)
            {
                await peer.SendAsync([one]);
            }
        }

        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        Session session = await server.SessionAsync();
        Assert.Equal(IPEndPoint.Parse("192.0.2.7:4711"), session.RemoteEndPoint);
        Assert.Equal([9], (await peer.CallAsync(Wire.Request(TestServer.Echo, 2, [9]))).Body);
        await peer.PingAsync();
    }

    [Fact]
    public async Task Without_a_header_a_trusted_proxy_is_refused()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.HelloRequest(1));

        await peer.ExpectGoneAsync();
        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.StageFailed));
        await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Matches(
            "^A connection from 127\\.0\\.0\\.1:[0-9]+ was rejected: it comes from a trusted proxy and does not begin with a PROXY header",
            Assert.Single(server.Log.WithId(3001)).Text);
        Assert.Empty(server.Log.WithId(3008));
    }

    [Fact]
    public async Task From_everywhere_else_a_header_is_no_message()
    {
        await using TestServer server = await StartAsync(static o => o.TrustedProxies = ["192.0.2.0/24"]);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Header);

        // "PROX" as a length is too large for a frame.
        Assert.Equal(2u, (await peer.ReadFrameAsync()).ErrorCode);
    }

    [Fact]
    public async Task A_header_that_does_not_come_is_waited_for_within_the_stage_timeout()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await StartAsync(static o => o.StageTimeout = TimeSpan.FromSeconds(5), time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Header[..10]);

        Task gone = peer.ExpectGoneAsync();
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return gone.IsCompleted;
            },
            "the connection was closed");

        await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.StartsWith("A connection from 127.0.0.1:", Assert.Single(server.Log.WithId(3001)).Text, StringComparison.Ordinal);
        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.StageTimeout));
    }

    [Fact]
    public async Task A_header_that_is_cut_off_by_the_end_is_refused()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Header[..10]);
        peer.ShutdownSend();

        await peer.ExpectGoneAsync();
        await Patience.UntilAsync(() => server.Counts.ConnectionsRejectedFor(ConnectionRejection.StageFailed) == 1, "it was counted");
        await Patience.UntilAsync(() => server.Log.WithId(3001).Count == 1, "it was logged");
        Assert.Contains("ended before its PROXY header did", server.Log.WithId(3001)[0].Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_limit_per_address_is_the_clients()
    {
        await using TestServer server = await StartAsync(static o => o.MaxConnectionsPerAddress = 1);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();
        using RawPeer other = await server.ConnectAsync();

        await first.SendAsync(Header, Wire.PingRequest(1));
        await first.ReadFrameAsync();
        await second.SendAsync(Header, Wire.PingRequest(1));
        await second.ExpectGoneAsync();
        await other.SendAsync(Encoding.ASCII.GetBytes("PROXY TCP4 192.0.2.8 192.0.2.1 4711 6628\r\n"), Wire.PingRequest(1));

        await other.ReadFrameAsync();
        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
    }

    [Theory]
    [InlineData("PROXY UNKNOWN\r\n", false)]
    [InlineData("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", true)]
    public async Task A_client_of_a_local_proxy_that_is_not_told_is_no_local_peer_and_the_proxy_itself_is_one(string header, bool own)
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Encoding.Latin1.GetBytes(header), Wire.HelloRequest(1));

        await peer.ReadFrameAsync();
        Assert.Equal(own ? peer.LocalEndPoint : null, (await server.SessionAsync()).RemoteEndPoint);
    }

    [Theory]
    [InlineData("PROXY UNKNOWN\r\n")]
    [InlineData("\r\n\r\n\0\r\nQUIT\n\x21\0\0\0")]
    public async Task A_client_that_is_not_told_has_the_address_of_its_proxy_and_its_limits(string header)
    {
        var proxy = IPEndPoint.Parse("192.0.2.99:4711");
        await using TestServer server = await StartAsync(
            static o => (o.TrustedProxies, o.MaxConnectionsPerAddress) = (["192.0.2.99"], 1), transport: new FarAwayTransport(proxy));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Encoding.Latin1.GetBytes(header), Wire.HelloRequest(1));
        await peer.ReadFrameAsync();
        Assert.Equal(proxy, (await server.SessionAsync()).RemoteEndPoint);

        using RawPeer second = await server.ConnectAsync();
        await second.SendAsync(Encoding.Latin1.GetBytes(header), Wire.HelloRequest(1));

        await second.ExpectGoneAsync();
        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
    }

    [Fact]
    public async Task Clients_of_a_local_proxy_that_are_not_told_count_in_the_rate_of_all_connections()
    {
        await using TestServer server = await StartAsync(static o => o.Rates.Total.ConnectionsPerSecond = 1, new FakeTimeProvider());
        byte[] header = Encoding.ASCII.GetBytes("PROXY UNKNOWN\r\n");
        using RawPeer first = await server.ConnectAsync();
        await first.SendAsync(header, Wire.PingRequest(1));
        await first.ReadFrameAsync();

        using RawPeer second = await server.ConnectAsync();
        await second.SendAsync(header, Wire.PingRequest(1));

        await second.ExpectGoneAsync();
        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.RateLimit));
    }

    [Fact]
    public async Task A_link_within_the_process_has_no_proxy()
    {
        string link = $"inproc://{Guid.NewGuid()}";
        await using TestServer server = await StartAsync(o => (o.Endpoints, o.TrustedProxies) = ([link], ["unix"]));
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = link });

        await client.ConnectAsync().InTimeAsync();

        Assert.Equal(link, $"{(await server.SessionAsync()).RemoteEndPoint}");
    }

    [Fact]
    public async Task A_proxy_on_a_Unix_socket_is_not_mistaken_for_its_client()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux tells who the peer of a Unix socket is.");
        using var directory = new TemporaryDirectory();
        await using TestServer server = await StartAsync(o => (o.Endpoints, o.TrustedProxies) = ([$"unix://{directory["s"]}"], ["unix"]));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Header, Wire.HelloRequest(1));

        await peer.ReadFrameAsync();
        Session session = await server.SessionAsync();
        Assert.Null(session.Connection.UnixPeer);
        Assert.Equal(IPEndPoint.Parse("192.0.2.7:4711"), session.RemoteEndPoint);
    }

    [Fact]
    public async Task A_stop_meets_a_connection_that_waits_for_its_header()
    {
        TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Header[..10]);

        await server.DisposeAsync();

        await peer.ExpectGoneAsync();
    }

    [Theory]
    [InlineData("10.0.0.0/33")]
    [InlineData("proxy.example")]
    [InlineData("")]
    public void What_is_no_source_is_named(string source)
    {
        var e = Assert.Throws<FastPortOptionsException>(
            () => new FastPortServer(new FastPortServerOptions { TrustedProxies = [source] }, new MessageHandlers()));

        Assert.Contains($"'{source}'", e.Message, StringComparison.Ordinal);
        Assert.Contains("10.0.0.0/8", e.Message, StringComparison.Ordinal);
    }

    private static Task<TestServer> StartAsync(
        Action<FastPortServerOptions>? options = null, TimeProvider? time = null, ITransport? transport = null) =>
        TestServer.StartAsync(
            options: o =>
            {
                o.TrustedProxies = ["127.0.0.0/8"];
                options?.Invoke(o);
            },
            components: c =>
            {
                c.Time = time;
                if (transport is not null)
                {
                    c.Transports.Add(transport);
                }
            });

    // Listens here, and its peers come from another machine.
    private sealed class FarAwayTransport(IPEndPoint peer) : ITransport
    {
        private readonly TransportCollection _here = TransportCollection.CreateDefault();

        public bool Supports(string scheme) => _here.Supports(scheme);

        public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
            new Listener(_here.CreateListener(endpoint, settings), peer);

        public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) => throw new NotSupportedException();

        private sealed class Listener(ITransportListener here, IPEndPoint peer) : ITransportListener
        {
            public Endpoint Endpoint => here.Endpoint;

            public void Start(Action<Connection> accepted) => here.Start(connection =>
            {
                ((TransportConnection)connection).SetClient(peer);
                accepted(connection);
            });

            public ValueTask StopAsync() => here.StopAsync();
        }
    }
}
