using System.Collections.Concurrent;
using FastPort.Framing;
using Xunit;

namespace FastPort.Interop.Tests.HaProxy;

/// <summary>Servers behind a real HAProxy, which tells the clients' addresses by the PROXY protocol.</summary>
public sealed class ProxiedServerTests : IDisposable
{
    private const ushort Echo = 0x1000;

    private readonly TemporaryDirectory _files = new();
    private readonly ConcurrentQueue<Session> _opened = new();

    public ProxiedServerTests()
    {
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(_files["ca.pem"]);
        authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]).WritePem(_files["server.pem"], withKey: true);
    }

    public void Dispose() => _files.Dispose();

    [HaProxyTheory]
    [InlineData("send-proxy")]
    [InlineData("send-proxy-v2")]
    public async Task Tls_that_is_passed_on_is_ended_by_the_server(string header)
    {
        await using FastPortServer server = await StartAsync("tls://127.0.0.1:0");
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(_files, string.Empty, server.Endpoints[0].Port, header);

        Session session = await AssertKnowsClientAsync("tls", proxy);

        Assert.NotNull(session.Tls);
    }

    [HaProxyTheory]
    [InlineData("send-proxy")]
    [InlineData("send-proxy-v2")]
    [InlineData("send-proxy-v2-ssl-cn")]
    public async Task Tls_that_is_ended_by_the_proxy_reaches_the_server_as_plain_bytes(string header)
    {
        await using FastPortServer server = await StartAsync("tcp://127.0.0.1:0");
        string bind = $"ssl crt {_files["server.pem"]} alpn fastport/1";
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(_files, bind, server.Endpoints[0].Port, header);

        Session session = await AssertKnowsClientAsync("tls", proxy);

        Assert.Null(session.Tls);
    }

    [HaProxyTheory]
    [InlineData("send-proxy")]
    [InlineData("send-proxy-v2")]
    public async Task Plain_connections_have_their_clients_addresses(string header)
    {
        await using FastPortServer server = await StartAsync("tcp://127.0.0.1:0");
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(_files, string.Empty, server.Endpoints[0].Port, header);

        await AssertKnowsClientAsync("tcp", proxy);
    }

    [HaProxyTheory]
    [InlineData("http")]
    [InlineData("tcp")]
    public async Task A_WebSocket_whose_TLS_is_ended_by_the_proxy_has_its_clients_address(string mode)
    {
        await using FastPortServer server = await StartAsync("ws://127.0.0.1:0");
        string bind = $"ssl crt {_files["server.pem"]} alpn http/1.1";
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(
            _files, bind, server.Endpoints[0].Port, "send-proxy-v2", mode);

        Session session = await AssertKnowsClientAsync("wss", proxy);

        Assert.Null(session.Tls);
    }

    [HaProxyTheory]
    [InlineData("send-proxy")]
    [InlineData("send-proxy-v2")]
    public async Task A_WebSocket_that_is_passed_on_encrypted_has_its_clients_address(string header)
    {
        await using FastPortServer server = await StartAsync("wss://127.0.0.1:0");
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(_files, string.Empty, server.Endpoints[0].Port, header);

        Session session = await AssertKnowsClientAsync("wss", proxy);

        Assert.NotNull(session.Tls);
    }

    // Each client's port is its own: the session's address can only come from the header.
    private async Task<Session> AssertKnowsClientAsync(string scheme, HaProxyProcess proxy)
    {
        var options = new FastPortClientOptions { Endpoint = $"{scheme}://127.0.0.1:{proxy.Port}", Reconnect = false };
        options.Tls.AuthorityFile = scheme is "tls" or "wss" ? _files["ca.pem"] : string.Empty;
        await using var client = new FastPortClient(options);
        await client.ConnectAsync(Patience.Token);

        byte[] sent = [.. Enumerable.Range(0, 100_000).Select(static i => (byte)i)];
        Assert.Equal(sent, await client.RequestAsync(Echo, sent).InTimeAsync());

        Session session = Assert.Single(_opened);
        Assert.Equal($"{client.Session!.Connection.LocalEndPoint}", $"{session.RemoteEndPoint}");
        Assert.Equal(scheme is "tls" or "wss", client.Session.Tls is not null);
        return session;
    }

    private async Task<FastPortServer> StartAsync(string endpoint)
    {
        var options = new FastPortServerOptions { Endpoints = { endpoint }, TrustedProxies = ["127.0.0.1"] };
        bool isEncrypted = Endpoint.Parse(endpoint).Scheme is "tls" or "wss";
        options.Tls.CertificateFile = isEncrypted ? _files["server.pem"] : string.Empty;
        var handlers = new MessageHandlers().MapInline(
            Echo, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)), "Echo");
        var server = new FastPortServer(options, handlers);
        server.SessionOpened += _opened.Enqueue;
        await server.StartAsync();
        return server;
    }
}
