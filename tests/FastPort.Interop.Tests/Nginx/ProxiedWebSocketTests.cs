using System.Globalization;
using System.Net;
using System.Net.WebSockets;
using System.Security.Cryptography.X509Certificates;
using FastPort.Framing;
using Xunit;

namespace FastPort.Interop.Tests.Nginx;

/// <summary>WebSocket endpoints behind a real nginx, configured as in docs/nginx: it ends TLS and cuts idle connections.</summary>
public sealed class ProxiedWebSocketTests : IDisposable
{
    private const ushort Echo = 0x1000;
    private const string Page = "https://game.example";

    private readonly TemporaryDirectory _files = new();

    public ProxiedWebSocketTests()
    {
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(_files["ca.pem"]);
        authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]).WritePem(_files["server.pem"], withKey: true);
    }

    public void Dispose() => _files.Dispose();

    [NginxFact]
    public async Task Clients_connect_through_a_proxy_that_ends_TLS_and_pages_by_their_origin()
    {
        await using FastPortServer server = await StartAsync(TimeSpan.FromSeconds(15));
        await using NginxProcess nginx = await StartProxyAsync(server);
        await using var client = new FastPortClient(Options(nginx));
        await client.ConnectAsync(Patience.Token);

        byte[] sent = [.. Enumerable.Range(0, 500_000).Select(static i => (byte)i)];
        Assert.Equal(sent, await client.RequestAsync(Echo, sent).InTimeAsync());

        using ClientWebSocket page = await OpenAsync(nginx, Page);
        Assert.Equal("fastport.v1", page.SubProtocol);
        WebSocketException e = await Assert.ThrowsAsync<WebSocketException>(() => OpenAsync(nginx, "https://evil.example"));
        Assert.Contains("403", e.Message, StringComparison.Ordinal);
    }

    [NginxFact]
    public async Task A_browser_s_address_bar_gets_a_sentence_and_another_path_nothing()
    {
        await using FastPortServer server = await StartAsync(TimeSpan.FromSeconds(15));
        await using NginxProcess nginx = await StartProxyAsync(server);
        using var handler = new SocketsHttpHandler();
        handler.SslOptions.RemoteCertificateValidationCallback = (_, shown, _, _) => Issued(shown);
        using var http = new HttpClient(handler) { BaseAddress = new Uri($"https://127.0.0.1:{nginx.Port}") };

        using HttpResponseMessage asked = await http.GetAsync("/game", Patience.Token);
        using HttpResponseMessage other = await http.GetAsync("/other", Patience.Token);

        Assert.Equal((HttpStatusCode.UpgradeRequired, HttpStatusCode.NotFound), (asked.StatusCode, other.StatusCode));
        Assert.Contains("fastport.v1", await asked.Content.ReadAsStringAsync(Patience.Token), StringComparison.Ordinal);
    }

    // The proxy cuts a connection on which nothing came from the server for two seconds.
    [NginxFact]
    public async Task A_heartbeat_below_the_proxy_s_timeout_keeps_an_idle_session()
    {
        await using FastPortServer server = await StartAsync(TimeSpan.FromMilliseconds(500));
        await using NginxProcess nginx = await StartProxyAsync(server, timeout: "2s");
        await using var client = new FastPortClient(Options(nginx));
        int ended = 0;
        client.Disconnected += (_, _) => Interlocked.Increment(ref ended);
        await client.ConnectAsync(Patience.Token);
        long before = client.Session!.Connection.BytesReceived;

        // Twelve Pings or answers to them: more than two seconds.
        await Patience.UntilAsync(() => client.Session!.Connection.BytesReceived >= before + (12 * 12), "heartbeats came");

        Assert.Equal([7], await client.RequestAsync(Echo, new byte[] { 7 }).InTimeAsync());
        Assert.Equal(0, ended);
    }

    [NginxFact]
    public async Task A_client_whose_idle_session_was_cut_is_back_by_itself()
    {
        await using FastPortServer server = await StartAsync(TimeSpan.FromSeconds(15));
        await using NginxProcess nginx = await StartProxyAsync(server, timeout: "500ms");
        await using var client = new FastPortClient(Options(nginx));
        int connected = 0;
        var ended = new TaskCompletionSource<CloseReason>();
        client.Connected += _ => Interlocked.Increment(ref connected);
        client.Disconnected += (_, reason) => ended.TrySetResult(reason);
        await client.ConnectAsync(Patience.Token);

        Assert.Equal(CloseKind.PeerTruncated, (await ended.Task.InTimeAsync()).Kind);
        await Patience.UntilAsync(() => Volatile.Read(ref connected) >= 2, "the client has connected again");
        Assert.Equal([7], await client.RequestAsync(Echo, new byte[] { 7 }).InTimeAsync());
    }

    private static async Task<FastPortServer> StartAsync(TimeSpan heartbeat)
    {
        var options = new FastPortServerOptions { Endpoints = { "ws://127.0.0.1:0/game" } };
        options.WebSocket.AllowedOrigins.Add(Page);
        options.Session.HeartbeatInterval = heartbeat;
        var handlers = new MessageHandlers().MapInline(
            Echo, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)), "Echo");
        var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        return server;
    }

    // The configuration in docs, for the addresses and files of this run.
    private async Task<NginxProcess> StartProxyAsync(FastPortServer server, string timeout = "1m")
    {
        string text = await File.ReadAllTextAsync(Path.Combine(AppContext.BaseDirectory, "fastport.conf"), Patience.Token);
        return await NginxProcess.StartAsync(port =>
        {
            string own = text;
            foreach (var (documented, used) in new[]
            {
                ("server 127.0.0.1:8080;", string.Create(CultureInfo.InvariantCulture, $"server 127.0.0.1:{server.Endpoints[0].Port};")),
                ("listen 443 ssl;", string.Create(CultureInfo.InvariantCulture, $"listen 127.0.0.1:{port} ssl;")),
                ("/etc/nginx/game.pem", _files["server.pem"]),
                ("/etc/nginx/game.key", _files["server.pem"]),
                ("proxy_read_timeout 1m;", $"proxy_read_timeout {timeout};"),
            })
            {
                Assert.Contains(documented, own, StringComparison.Ordinal);
                own = own.Replace(documented, used, StringComparison.Ordinal);
            }

            return own;
        });
    }

    private FastPortClientOptions Options(NginxProcess nginx)
    {
        var options = new FastPortClientOptions { Endpoint = $"wss://127.0.0.1:{nginx.Port}/game" };
        options.Tls.AuthorityFile = _files["ca.pem"];
        return options;
    }

    private async Task<ClientWebSocket> OpenAsync(NginxProcess nginx, string origin)
    {
        var page = new ClientWebSocket();
        page.Options.AddSubProtocol("fastport.v1");
        page.Options.SetRequestHeader("Origin", origin);
        page.Options.RemoteCertificateValidationCallback = (_, shown, _, _) => Issued(shown);
        try
        {
            await page.ConnectAsync(new Uri($"wss://127.0.0.1:{nginx.Port}/game"), Patience.Token);
            return page;
        }
        catch
        {
            page.Dispose();
            throw;
        }
    }

    private bool Issued(X509Certificate? shown)
    {
        using X509Certificate2 expected = X509CertificateLoader.LoadCertificateFromFile(_files["server.pem"]);
        return shown?.GetCertHashString() == expected.GetCertHashString();
    }
}
