namespace FastPort.Security.Tests.Support;

/// <summary>The files of a server with an encrypted endpoint and of its clients, all of one authority.</summary>
internal sealed class CertificateSite : IDisposable
{
    private readonly TestAuthority _authority = TestCertificates.CreateAuthority();

    public CertificateSite()
    {
        _authority.WritePem(Files["ca.pem"]);
        WriteServer("server");
    }

    public TemporaryDirectory Files { get; } = new();

    /// <summary>Writes the server's certificate, or replaces it.</summary>
    public TestCertificate WriteServer(string name)
    {
        TestCertificate certificate = _authority.Issue(name, ip: ["127.0.0.1"]);
        certificate.WritePem(Files["server.pem"], withKey: true);
        return certificate;
    }

    public Task<SecureServer> StartAsync(
        Action<SecurityOptions> configure,
        ClientCertificateMode mode = ClientCertificateMode.Optional,
        Action<FastPortServerOptions>? server = null) => SecureServer.StartAsync(
        configure,
        "tls://127.0.0.1:0",
        server: options =>
        {
            options.Tls.CertificateFile = Files["server.pem"];
            options.Tls.ClientCertificates = mode;
            options.Tls.ClientAuthorityFile = mode == ClientCertificateMode.None ? string.Empty : Files["ca.pem"];
            server?.Invoke(options);
        });

    /// <summary>A certificate of the authority, for a client unless said otherwise.</summary>
    public TestCertificate Issue(string name, string[]? dns = null, bool client = true) => _authority.Issue(name, dns, client: client);

    /// <summary>A client that has connected, with a certificate if there is a name.</summary>
    public async Task<FastPortClient> ConnectAsync(SecureServer server, string? name, string[]? dns = null, string token = "")
    {
        string file = string.Empty;
        if (name is not null)
        {
            file = Files[$"client-{name}.pem"];
            _authority.Issue(name, dns, client: true).WritePem(file, withKey: true);
        }

        FastPortClient client = server.Client(token, tls: tls => (tls.AuthorityFile, tls.CertificateFile) = (Files["ca.pem"], file));
        await client.ConnectAsync().InTimeAsync();
        return client;
    }

    public void Dispose() => Files.Dispose();
}
