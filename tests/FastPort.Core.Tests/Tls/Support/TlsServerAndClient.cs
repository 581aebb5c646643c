using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Tls.Support;

/// <summary>A server with an encrypted endpoint, and clients of it, with files of their own.</summary>
internal sealed class TlsServerAndClient : IAsyncDisposable
{
    private readonly List<FastPortClient> _clients = [];
    private TestServer? _server;

    private TlsServerAndClient()
    {
        Authority = TestCertificates.CreateAuthority();
        Authority.WritePem(Files["ca.pem"]);
        WriteServer(Authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]));
    }

    public TemporaryDirectory Files { get; } = new();

    public TestAuthority Authority { get; }

    public TestServer Server => _server!;

    public Endpoint Endpoint => Server.Endpoint;

    public static async Task<TlsServerAndClient> StartAsync(
        Action<FastPortServerOptions>? options = null,
        Action<FastPortServerComponents>? components = null,
        Action<TlsServerAndClient>? prepare = null)
    {
        var both = new TlsServerAndClient();
        prepare?.Invoke(both);
        both._server = await TestServer.StartAsync(
            options: server =>
            {
                server.Endpoints[0] = "tls://127.0.0.1:0";
                server.Tls.CertificateFile = both.Files["server.pem"];
                options?.Invoke(server);
            },
            components: components);
        return both;
    }

    public void WriteServer(TestCertificate certificate) => certificate.WritePem(Files["server.pem"], withKey: true);

    /// <summary>A client's certificate and key in one file.</summary>
    public string WriteClient(TestCertificate certificate, string file = "client.pem")
    {
        certificate.WritePem(Files[file], withKey: true);
        return Files[file];
    }

    /// <summary>A client that trusts the server's authority, and asks for <c>localhost</c>.</summary>
    public FastPortClient CreateClient(Action<TlsClientOptions>? tls = null, Action<FastPortClientOptions>? options = null)
    {
        var client = new FastPortClientOptions { Endpoint = $"{Endpoint}", Reconnect = false };
        client.Tls.AuthorityFile = Files["ca.pem"];
        tls?.Invoke(client.Tls);
        options?.Invoke(client);
        _clients.Add(new FastPortClient(client));
        return _clients[^1];
    }

    public async Task<FastPortClient> ConnectAsync(Action<TlsClientOptions>? tls = null)
    {
        FastPortClient client = CreateClient(tls);
        await client.ConnectAsync(Patience.Token);
        return client;
    }

    /// <summary>What a client that cannot connect says.</summary>
    public async Task<string> CannotConnectAsync(Action<TlsClientOptions>? tls = null)
    {
        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => CreateClient(tls).ConnectAsync(Patience.Token));
        Assert.StartsWith($"Cannot connect to {Endpoint}: ", e.Message, StringComparison.Ordinal);
        return e.Message;
    }

    /// <summary>Why the server has rejected its only connection, from its log.</summary>
    public async Task<string> RejectedAsync()
    {
        await Patience.UntilAsync(() => Server.Log.WithId(3001).Count != 0, "a connection was rejected");
        return Server.Log.WithId(3001)[0].Text;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (FastPortClient client in _clients)
        {
            await client.DisposeAsync();
        }

        if (_server is not null)
        {
            await _server.DisposeAsync();
        }

        Files.Dispose();
    }
}
