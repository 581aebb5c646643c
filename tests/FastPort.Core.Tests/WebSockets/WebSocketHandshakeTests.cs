using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>The HTTP request that begins a WebSocket: what is accepted, and the answer to everything else.</summary>
public sealed class WebSocketHandshakeTests
{
    private const string Good =
        "GET /game HTTP/1.1\r\nHost: localhost:1\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: other, fastport.v1\r\n";

    // Replaced, by what, the status, and a part of the sentence.
    public static TheoryData<string, string, string, string> Refused => new()
    {
        { "GET", "POST", "405 Method Not Allowed", "GET" },
        { "/game", "/", "404 Not Found", "/game" },
        { "/game", "/game/", "404 Not Found", "/game" },
        { "HTTP/1.1", "HTTP/1.0", "400 Bad Request", "HTTP/1.1" },
        { "Upgrade: websocket\r\n", "", "426 Upgrade Required", "fastport.v1" },
        { "Connection: keep-alive, Upgrade\r\n", "", "426 Upgrade Required", "fastport.v1" },
        { "Version: 13", "Version: 8", "426 Upgrade Required", "13" },
        { "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j", "400 Bad Request", "Sec-WebSocket-Key" },
        { "Host: localhost:1\r\n", "", "400 Bad Request", "Host" },
        { "Host: localhost:1\r\n", "Host: localhost:1\r\nHost: other\r\n", "400 Bad Request", "Host" },
        { "fastport.v1", "fastport.v2", "400 Bad Request", "fastport.v1" },
        { "Host: localhost:1\r\n", "Host : localhost:1\r\n", "400 Bad Request", "HTTP/1.1" },
        { "Host: localhost:1\r\n", "Host: localhost:1\r\n folded\r\n", "400 Bad Request", "HTTP/1.1" },
        { "Host: localhost:1\r\n", "Host: localhost:1\r\nX: a\nb\r\n", "400 Bad Request", "HTTP/1.1" },
    };

    [Fact]
    public async Task A_good_request_in_pieces_begins_a_WebSocket_without_extensions()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        foreach (byte one in Encoding.ASCII.GetBytes($"{Good}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"))
        {
            await peer.SendAsync([one]);
        }

        string answer = await ReadHeadAsync(peer);
        Assert.StartsWith("HTTP/1.1 101 Switching Protocols\r\n", answer, StringComparison.Ordinal);
        Assert.Contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", answer, StringComparison.Ordinal);
        Assert.Contains("Sec-WebSocket-Protocol: fastport.v1\r\n", answer, StringComparison.Ordinal);
        Assert.DoesNotContain("Extensions", answer, StringComparison.Ordinal);
        await server.SessionAsync();
    }

    [Theory]
    [MemberData(nameof(Refused))]
    public async Task Another_request_is_answered_with_a_sentence(string replaced, string by, string status, string sentence)
    {
        await using TestServer server = await StartAsync();

        string answer = await AskAsync(server, $"{Good}\r\n".Replace(replaced, by, StringComparison.Ordinal));

        Assert.StartsWith($"HTTP/1.1 {status}\r\n", answer, StringComparison.Ordinal);
        Assert.Contains(sentence, answer[answer.IndexOf("\r\n\r\n", StringComparison.Ordinal)..], StringComparison.Ordinal);
        await ExpectRejectedAsync(server);
    }

    [Fact]
    public async Task A_head_that_is_too_long_is_refused_before_it_has_come()
    {
        await using TestServer server = await StartAsync();

        string answer = await AskAsync(server, $"{Good}Cookie: {new string('a', 17 * 1024)}");

        Assert.StartsWith("HTTP/1.1 431 ", answer, StringComparison.Ordinal);
        await ExpectRejectedAsync(server);
    }

    // Allowed origins, the page's, the host, and whether the page may connect.
    public static TheoryData<string?, string?, string, bool> Origins => new()
    {
        { null, null, "localhost:1", true },
        { null, null, "game.example", true },
        { null, "http://localhost:1", "localhost:1", true },
        { null, "http://127.0.0.1:1", "127.0.0.1:1", true },
        { null, "http://localhost:2", "localhost:1", false },
        { null, "https://evil.example", "localhost:1", false },
        { null, "null", "localhost:1", false },
        { null, "", "localhost:1", false },

        // The name of a page's own host that means this machine (DNS rebinding).
        { null, "http://evil.example:1", "evil.example:1", false },
        { null, "http://localhost:1", "localhost:1/@evil.example", false },
        { "https://game.example", "https://game.example", "game.example", true },
        { "https://game.example", "https://GAME.example", "10.0.0.1:6628", true },
        { "https://game.example", "https://game.example.evil.example", "game.example", false },
        { "https://game.example", "http://game.example", "localhost:1", false },
        { "*", "https://evil.example", "localhost:1", true },
    };

    [Theory]
    [MemberData(nameof(Origins))]
    public async Task A_page_may_connect_from_its_own_host_or_an_allowed_origin(
        string? allowed, string? origin, string host, bool mayConnect)
    {
        await using TestServer server = await StartAsync(allowed);
        string request = Good.Replace("localhost:1", host, StringComparison.Ordinal)
            + (origin is null ? string.Empty : $"Origin: {origin}\r\n") + "\r\n";

        string answer = await AskAsync(server, request, waitsForEnd: !mayConnect);

        Assert.StartsWith(mayConnect ? "HTTP/1.1 101 " : "HTTP/1.1 403 ", answer, StringComparison.Ordinal);
        if (!mayConnect)
        {
            Assert.Contains("WebSocket:AllowedOrigins", answer, StringComparison.Ordinal);
            await ExpectRejectedAsync(server);
        }
    }

    [Theory]
    [InlineData("https", "101")]
    [InlineData("http", "403")]
    public async Task Pages_of_an_encrypted_server_are_encrypted(string scheme, string status)
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            static options => options.Endpoints[0] = "wss://127.0.0.1:0/game");
        using RawPeer peer = await both.Server.ConnectAsync();
        await peer.EncryptAsync();

        await peer.SendAsync(Encoding.ASCII.GetBytes($"{Good}Origin: {scheme}://localhost:1\r\n\r\n"));

        Assert.StartsWith($"HTTP/1.1 {status} ", await ReadHeadAsync(peer), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_peer_that_leaves_within_its_request_is_rejected_and_one_that_sends_nothing_is_not()
    {
        await using TestServer server = await StartAsync();
        using (RawPeer probe = await server.ConnectAsync())
        {
            probe.ShutdownSend();
            await probe.ExpectGoneAsync();
        }

        Assert.Equal(0, server.Server.Counters.Snapshot().ConnectionsRejected);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync("GET /ga"u8.ToArray());
        peer.ShutdownSend();
        await peer.ExpectGoneAsync();
        await ExpectRejectedAsync(server);
    }

    [Theory]
    [InlineData("game.example")]
    [InlineData("https://game.example/")]
    [InlineData("https://game.example/path")]
    public void An_origin_that_no_browser_sends_is_refused_at_the_start(string origin)
    {
        var options = new FastPortServerOptions { Endpoints = { "ws://127.0.0.1:0" } };
        options.WebSocket.AllowedOrigins.Add(origin);

        FastPortOptionsException e = Assert.Throws<FastPortOptionsException>(() => new FastPortServer(options));

        Assert.StartsWith($"FastPort:WebSocket:AllowedOrigins is '{origin}'", Assert.Single(e.Problems), StringComparison.Ordinal);
    }

    private static Task<TestServer> StartAsync(string? allowed = null) => TestServer.StartAsync(options: options =>
    {
        options.Endpoints[0] = "ws://127.0.0.1:0/game";
        if (allowed is not null)
        {
            options.WebSocket.AllowedOrigins.Add(allowed);
        }
    });

    // The answer, and its body if the server ends the connection.
    private static async Task<string> AskAsync(TestServer server, string request, bool waitsForEnd = true)
    {
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Encoding.ASCII.GetBytes(request));
        string answer = await ReadHeadAsync(peer);
        if (waitsForEnd)
        {
            int length = int.Parse(answer.Split("Content-Length: ")[1].Split("\r\n")[0], System.Globalization.CultureInfo.InvariantCulture);
            answer += Encoding.ASCII.GetString(await peer.ReadBytesAsync(length));
            await peer.ExpectGoneAsync();
        }

        return answer;
    }

    private static async Task<string> ReadHeadAsync(RawPeer peer)
    {
        var head = new StringBuilder();
        do
        {
            head.Append((char)(await peer.ReadBytesAsync(1))[0]);
        }
        while (!head.ToString().EndsWith("\r\n\r\n", StringComparison.Ordinal));

        return head.ToString();
    }

    private static Task ExpectRejectedAsync(TestServer server) => Patience.UntilAsync(
        () => server.Counts.ConnectionsRejectedFor(ConnectionRejection.WebSocketRefused) == 1, "the connection is rejected");
}
