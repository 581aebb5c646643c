using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>Our client against OpenSSL's server, which speaks TLS and nothing of FastPort.</summary>
public sealed class TlsClientTests : IDisposable
{
    private const string Listening = "ACCEPT 127.0.0.1:";

    private readonly TemporaryDirectory _files = new();

    public TlsClientTests()
    {
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(_files["ca.pem"]);
        TestCertificates.CreateAuthority("Another").WritePem(_files["other.pem"]);
        authority.Issue("server", ip: ["127.0.0.1"]).WritePem(_files["server.pem"], withKey: true);
        authority.Issue("panel-7", client: true).WritePem(_files["client.pem"], withKey: true);
    }

    [OpenSslTheory]
    [InlineData("-tls1_3")]
    [InlineData("-tls1_2")]
    public async Task A_server_of_the_right_authority_is_sent_the_hello(string version)
    {
        await using OpenSslProcess server = Serve(version, "-alpn", "fastport/1");
        await using FastPortClient client = await CreateClientAsync(server, static tls => tls.AllowTls12 = true);

        Task connecting = client.ConnectAsync(Patience.Token);

        // The server prints what it receives.
        string said = await server.SaysAsync("panel-7's client");
        Assert.Contains("ALPN protocols selected: fastport/1", said, StringComparison.Ordinal);
        Assert.False(connecting.IsCompleted);
        await client.CloseAsync().InTimeAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => connecting.InTimeAsync());
    }

    [OpenSslFact]
    public async Task A_server_that_wants_a_certificate_gets_it()
    {
        await using OpenSslProcess server = Serve("-Verify", "1", "-CAfile", _files["ca.pem"], "-verify_return_error");
        await using FastPortClient client = await CreateClientAsync(server, tls => tls.CertificateFile = _files["client.pem"]);

        Task connecting = client.ConnectAsync(Patience.Token);

        string said = await server.SaysAsync("panel-7's client");
        Assert.Contains("CN = panel-7", said, StringComparison.Ordinal);
        await client.CloseAsync().InTimeAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => connecting.InTimeAsync());
    }

    [OpenSslFact]
    public async Task A_server_of_another_authority_is_refused()
    {
        await using OpenSslProcess server = Serve();

        string says = await CannotConnectAsync(server, tls => tls.AuthorityFile = _files["other.pem"]);

        Assert.Contains("'CN=server' was signed by 'CN=Test authority', which is not trusted here", says, StringComparison.Ordinal);
    }

    [OpenSslFact]
    public async Task A_server_of_another_name_is_refused()
    {
        await using OpenSslProcess server = Serve();

        string says = await CannotConnectAsync(server, static tls => tls.ServerName = "game.example");

        Assert.Contains("'CN=server' is for server, 127.0.0.1, not for the requested name", says, StringComparison.Ordinal);
    }

    [OpenSslFact]
    public async Task A_server_with_tls_1_2_only_is_refused_with_advice()
    {
        await using OpenSslProcess server = Serve("-tls1_2");

        string says = await CannotConnectAsync(server);

        Assert.Contains("if it supports only TLS 1.2, set Tls:AllowTls12", says, StringComparison.Ordinal);
    }

    [OpenSslFact]
    public async Task A_server_with_tls_1_1_only_is_refused_even_where_1_2_is_allowed()
    {
        await using OpenSslProcess server = Serve("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0");

        string says = await CannotConnectAsync(server, static tls => tls.AllowTls12 = true);

        Assert.Contains("the server allows none of the TLS versions offered", says, StringComparison.Ordinal);
    }

    [OpenSslFact]
    public async Task A_server_that_wants_a_certificate_that_there_is_not_says_so()
    {
        await using OpenSslProcess server = Serve("-Verify", "1", "-CAfile", _files["ca.pem"], "-verify_return_error");
        await using FastPortClient client = await CreateClientAsync(server);

        // The client's handshake ends before the server has looked for its certificate: the session may fail instead.
        Exception e = await Assert.ThrowsAnyAsync<Exception>(() => client.ConnectAsync(Patience.Token));

        Assert.Contains("certificate", e.Message, StringComparison.Ordinal);
    }

    public void Dispose() => _files.Dispose();

    private OpenSslProcess Serve(params IEnumerable<string> arguments) => OpenSslProcess.Start(
        ["s_server", "-accept", "127.0.0.1:0", "-cert", _files["server.pem"], "-key", _files["server.pem"], .. arguments]);

    private async Task<FastPortClient> CreateClientAsync(OpenSslProcess server, Action<TlsClientOptions>? configure = null)
    {
        string port = await server.RestOfLineAsync(Listening);
        var options = new FastPortClientOptions
        {
            Endpoint = $"tls://127.0.0.1:{port}",
            Reconnect = false,
            ClientName = "panel-7's client",
            ConnectTimeout = Patience.Limit,
        };
        options.Tls.AuthorityFile = _files["ca.pem"];
        configure?.Invoke(options.Tls);
        return new FastPortClient(options);
    }

    private async Task<string> CannotConnectAsync(OpenSslProcess server, Action<TlsClientOptions>? configure = null)
    {
        await using FastPortClient client = await CreateClientAsync(server, configure);
        return (await Assert.ThrowsAsync<EndpointException>(() => client.ConnectAsync(Patience.Token))).Message;
    }
}
