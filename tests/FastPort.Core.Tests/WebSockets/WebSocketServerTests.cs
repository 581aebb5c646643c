using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using FastPort.Core.Tests.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Transports.Sockets;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>Sessions over WebSockets, with FastPort's client and the runtime's.</summary>
public sealed class WebSocketServerTests
{
    [Theory]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task A_client_calls_a_server(string scheme)
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(options =>
        {
            options.Endpoints[0] = $"{scheme}://127.0.0.1:0/game";
            if (scheme == "ws")
            {
                options.Tls.CertificateFile = string.Empty;
            }
        });
        var options = new FastPortClientOptions { Endpoint = $"{both.Endpoint}", Reconnect = false };
        if (scheme == "wss")
        {
            options.Tls.AuthorityFile = both.Files["ca.pem"];
        }

        await using var client = new FastPortClient(options);
        await client.ConnectAsync(Patience.Token);

        byte[] large = new byte[500_000];
        new Random(1).NextBytes(large);
        Assert.Equal([7], await client.RequestAsync(TestServer.Echo, new byte[] { 7 }).InTimeAsync());
        Assert.Equal(large, await client.RequestAsync(TestServer.Echo, large).InTimeAsync());
        Assert.Equal(scheme == "wss", client.Session!.Tls is not null);
        Assert.Equal(scheme == "wss" ? "http/1.1" : null, both.Server.Opened[0].Tls?.ApplicationProtocol);
        await client.CloseAsync();
        Assert.Equal(CloseKind.PeerClosed, (await both.Server.CloseReasonAsync()).Kind);
    }

    [Theory]
    [InlineData("/other", "404 Not Found")]
    [InlineData("", "404 Not Found")]
    public async Task A_client_with_another_path_is_told_the_server_s_answer(string path, string status)
    {
        await using TestServer server = await StartAsync();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = $"{server.Endpoint with { Path = path }}", Reconnect = false });

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => client.ConnectAsync(Patience.Token));

        Assert.Equal($"Cannot connect to {server.Endpoint with { Path = path }}: the server answered {status}.", e.Message);
    }

    [Fact]
    public async Task A_client_at_a_server_that_speaks_no_HTTP_is_told()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = $"ws://127.0.0.1:{server.Endpoint.Port}", Reconnect = false });

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => client.ConnectAsync(Patience.Token));

        Assert.Equal(
            $"Cannot connect to ws://127.0.0.1:{server.Endpoint.Port}: the stream ended before the peer's HTTP message did.", e.Message);
    }

    [Fact]
    public async Task A_client_whose_server_closes_at_once_is_told()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        string endpoint = $"ws://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}";
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, Reconnect = false });

        Task connecting = client.ConnectAsync(Patience.Token);
        using (Socket accepted = await listener.AcceptSocketAsync(Patience.Token))
        {
            // Read first: otherwise the end would be a reset.
            Assert.NotEqual(0, await accepted.ReceiveAsync(new byte[4096], Patience.Token));
        }

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => connecting);
        Assert.Equal($"Cannot connect to {endpoint}: The peer left without sending anything.", e.Message);
    }

    [Fact]
    public async Task Frames_may_lie_in_messages_as_they_like()
    {
        await using TestServer server = await StartAsync();
        using ClientWebSocket peer = await ConnectAsync(server);
        byte[] requests = [.. Enumerable.Range(1, 20).SelectMany(static i => Wire.Request(TestServer.Echo, (uint)i, new byte[i]))];

        // One byte in each fragment of the first message, then all in one message, then cut in the middle.
        await SendAsync(peer, requests, piece: 1, isMessage: false);
        await SendAsync(peer, requests, piece: requests.Length, isMessage: true);
        await SendAsync(peer, requests, piece: 17, isMessage: true);

        byte[] answers = await ReadAsync(peer, 3 * requests.Length);
        for (int at = 0, i = 0; at < answers.Length; at += 12 + i)
        {
            i = (i % 20) + 1;
            Assert.Equal((uint)(8 + i), BinaryPrimitives.ReadUInt32LittleEndian(answers.AsSpan(at)));
        }
    }

    // The Goodbye's code, and the close code.
    [Theory]
    [InlineData(ErrorCode.None, 1000)]
    [InlineData(ErrorCode.ShuttingDown, 1001)]
    [InlineData(ErrorCode.Unauthenticated, 4005)]
    [InlineData(ErrorCode.Overloaded, 4008)]
    [InlineData((ErrorCode)0x2000, 4999)]
    public async Task The_close_code_tells_the_code_of_the_Goodbye(ErrorCode code, int closeCode)
    {
        await using TestServer server = await StartAsync();
        using ClientWebSocket peer = await ConnectAsync(server);
        Session session = await server.SessionAsync();

        Task closing = session.CloseAsync(code, "The end.", Patience.Token);

        Assert.Equal(closeCode, (int?)await ReadToEndAsync(peer));
        await peer.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, Patience.Token);
        await closing.InTimeAsync();
    }

    [Fact]
    public async Task A_close_of_the_peer_ends_the_session_in_order_and_is_answered_with_its_code()
    {
        await using TestServer server = await StartAsync();
        using ClientWebSocket peer = await ConnectAsync(server);
        await server.SessionAsync();

        await peer.CloseAsync((WebSocketCloseStatus)4321, "over", Patience.Token);

        Assert.Equal(4321, (int?)peer.CloseStatus);
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_stream_without_a_close_is_cut_off()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await UpgradeAsync(peer);
        await server.SessionAsync();

        peer.ShutdownSend();

        Assert.Equal(CloseKind.PeerTruncated, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_text_message_ends_the_session_with_1003()
    {
        await using TestServer server = await StartAsync();
        using ClientWebSocket peer = await ConnectAsync(server);

        await peer.SendAsync("hello"u8.ToArray(), WebSocketMessageType.Text, endOfMessage: true, Patience.Token);

        Assert.Equal(1003, (int?)await ReadToEndAsync(peer));
        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal(CloseKind.ProtocolError, reason.Kind);
        Assert.Contains("text message", reason.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_custom_transport_is_refused_with_a_sentence()
    {
        await using TestServer server = await StartAsync();
        var custom = new FilterTransport(
            new SocketTransport(), static (connection, _) => new FilterConnection(connection, new ConstantKey(1), new ConstantKey(1)));
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = $"{server.Endpoint}", Reconnect = false }, transport: custom);

        NotSupportedException e = await Assert.ThrowsAsync<NotSupportedException>(() => client.ConnectAsync(Patience.Token));

        Assert.Equal(
            $"A WebSocket needs one of the library's transports; {typeof(FilterConnection)} is of a custom one.", e.Message);
    }

    [Fact]
    public async Task Pings_are_answered_also_within_a_message_and_a_flood_of_them_costs_no_memory()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await UpgradeAsync(peer);
        Session session = await server.SessionAsync();
        byte[] ping = [0x89, 0x83, 0, 0, 0, 0, 1, 2, 3];
        byte[] echo = Wire.Request(TestServer.Echo, 1, [5]);

        // A message of two fragments with a Ping between them.
        await peer.SendAsync([0x02, (byte)(0x80 | 4), 0, 0, 0, 0, .. echo[..4]], ping, [0x80, (byte)(0x80 | 9), 0, 0, 0, 0, .. echo[4..]]);
        Assert.Equal([0x8A, 3, 1, 2, 3], await peer.ReadBytesAsync(5));
        Assert.Equal(0x82, (await peer.ReadBytesAsync(2 + echo.Length))[0]);

        byte[] many = [.. Enumerable.Repeat((byte[])[0x89, 0xFD, 0, 0, 0, 0, .. new byte[125]], 200).SelectMany(static one => one)];
        Task sending = SendAsync();

        // The last Ping of those that arrive together is answered, then the request behind all of them.
        byte[] head;
        while ((head = await peer.ReadBytesAsync(2))[0] == 0x8A)
        {
            Assert.Equal(125, (await peer.ReadBytesAsync(head[1])).Length);
        }

        Assert.Equal(0x82, head[0]);
        await sending;
        Assert.InRange(session.Connection.SendMemory, 0, 512 * 1024);

        async Task SendAsync()
        {
            for (int i = 0; i < 400; i++)
            {
                await peer.SendAsync(many);
            }

            await peer.SendAsync([0x82, (byte)(0x80 | echo.Length), 0, 0, 0, 0, .. echo]);
        }
    }

    [Fact]
    public async Task Frames_without_data_end_a_turn_and_what_follows_them_is_read()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await UpgradeAsync(peer);
        byte[] echo = Wire.Request(TestServer.Echo, 1, [5]);
        byte[] empty = [.. Enumerable.Repeat((byte[])[0x82, 0x80, 0, 0, 0, 0], 20_000).SelectMany(static one => one)];

        await peer.SendAsync(empty, [0x82, (byte)(0x80 | echo.Length), 0, 0, 0, 0, .. echo]);

        Assert.Equal(0x82, (await peer.ReadBytesAsync(2 + echo.Length))[0]);
    }

    [Fact]
    public async Task A_stopping_server_says_1001_and_waits_for_the_requests_in_flight()
    {
        var begun = new TaskCompletionSource();
        var release = new TaskCompletionSource();
        await using TestServer server = await StartAsync(handlers => handlers.MapQueued(0x2001, async context =>
        {
            begun.SetResult();
            await release.Task;
            context.Reply([9]);
        }));
        using ClientWebSocket peer = await ConnectAsync(server);
        byte[] request = [.. Wire.HelloRequest(1), .. Wire.Request(0x2001, 5)];
        await SendAsync(peer, request, request.Length, isMessage: true);
        Assert.Equal(1, (await ReadFrameAsync(peer))[0]);
        await begun.Task.InTimeAsync();

        Task stopping = server.Server.StopAsync(Patience.Token);
        Assert.Equal(3, (await ReadFrameAsync(peer))[0]);
        release.SetResult();

        Assert.Equal(1001, (int?)await ReadToEndAsync(peer));
        await peer.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, Patience.Token);
        await stopping.InTimeAsync();
    }

    private static Task<TestServer> StartAsync(Action<MessageHandlers>? handlers = null) =>
        TestServer.StartAsync(handlers, static options => options.Endpoints[0] = "ws://127.0.0.1:0/game");

    private static async Task<ClientWebSocket> ConnectAsync(TestServer server)
    {
        var peer = new ClientWebSocket();
        peer.Options.AddSubProtocol("fastport.v1");
        await peer.ConnectAsync(new Uri($"{server.Endpoint}"), Patience.Token);
        return peer;
    }

    private static async Task UpgradeAsync(RawPeer peer)
    {
        await peer.SendAsync("GET /game HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"u8.ToArray());
        await peer.SendAsync("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"u8.ToArray());
        await peer.SendAsync("Sec-WebSocket-Protocol: fastport.v1\r\n\r\n"u8.ToArray());
        for (string head = string.Empty; !head.EndsWith("\r\n\r\n", StringComparison.Ordinal);)
        {
            head += (char)(await peer.ReadBytesAsync(1))[0];
        }
    }

    private static async Task SendAsync(ClientWebSocket peer, byte[] bytes, int piece, bool isMessage)
    {
        for (int at = 0; at < bytes.Length; at += piece)
        {
            int count = Math.Min(piece, bytes.Length - at);
            bool isFinal = isMessage || at + count == bytes.Length;
            await peer.SendAsync(bytes.AsMemory(at, count), WebSocketMessageType.Binary, isFinal, Patience.Token);
        }
    }

    private static async Task<byte[]> ReadAsync(ClientWebSocket peer, int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            read += (await peer.ReceiveAsync(bytes.AsMemory(read), Patience.Token)).Count;
        }

        return bytes;
    }

    // Without its length: the type comes first.
    private static async Task<byte[]> ReadFrameAsync(ClientWebSocket peer) =>
        await ReadAsync(peer, (int)BinaryPrimitives.ReadUInt32LittleEndian(await ReadAsync(peer, 4)));

    private static async Task<WebSocketCloseStatus?> ReadToEndAsync(ClientWebSocket peer)
    {
        while ((await peer.ReceiveAsync(new byte[1024].AsMemory(), Patience.Token)).MessageType != WebSocketMessageType.Close)
        {
            // The Goodbye.
        }

        return peer.CloseStatus;
    }
}
