using System.Collections.Concurrent;
using System.Globalization;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>A server of this process with an encrypted endpoint, files of its own, and OpenSSL's client for it.</summary>
internal sealed class TlsServerForOpenSsl : IAsyncDisposable
{
    private readonly ConcurrentQueue<Session> _opened = new();
    private readonly RecordingLog _log = new();
    private FastPortServer? _server;
    private bool _allowsTls12;

    private TlsServerForOpenSsl()
    {
        Authority.WritePem(Files["ca.pem"]);
        Authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]).WritePem(Files["server.pem"], withKey: true);
    }

    public TemporaryDirectory Files { get; } = new();

    public TestAuthority Authority { get; } = TestCertificates.CreateAuthority();

    public int Port => _server!.Endpoints[0].Port;

    /// <summary>Starts one; its certificate is for <c>localhost</c> and <c>127.0.0.1</c>.</summary>
    /// <param name="configure">Changes the options, and files before they are read.</param>
    public static async Task<TlsServerForOpenSsl> StartAsync(Action<TlsServerForOpenSsl, TlsServerOptions>? configure = null)
    {
        var server = new TlsServerForOpenSsl();
        var options = new FastPortServerOptions { Endpoints = { "tls://127.0.0.1:0" } };
        options.Tls.CertificateFile = server.Files["server.pem"];
        configure?.Invoke(server, options.Tls);
        server._allowsTls12 = options.Tls.AllowTls12;
        server._server = new FastPortServer(options, loggerFactory: server._log);
        server._server.SessionOpened += server._opened.Enqueue;
        await server._server.StartAsync();
        return server;
    }

    public static Task<TlsServerForOpenSsl> StartWithTls12Async() =>
        StartAsync(static (_, options) => options.AllowTls12 = true);

    /// <summary>OpenSSL's client, which trusts the server's authority alone and ends if that did not sign the certificate.</summary>
    public OpenSslProcess Connect(params IEnumerable<string> arguments) => OpenSslProcess.Start(
        ["s_client", "-connect", string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{Port}"), "-CAfile", Files["ca.pem"],
            "-verify_return_error", .. arguments]);

    /// <summary>A certificate with its key in a file.</summary>
    /// <returns>The arguments that have OpenSSL's client show it, with the authorities between.</returns>
    public string[] WriteClient(TestCertificate certificate)
    {
        string file = Files[$"{Guid.NewGuid():N}.client"];
        certificate.WritePem(file, withKey: true);
        return ["-cert", file, "-key", file, "-cert_chain", file];
    }

    /// <summary>A session, once it is there.</summary>
    public async Task<Session> SessionAsync(int index = 0)
    {
        await Patience.UntilAsync(() => _opened.Count > index, $"session {index} was opened");
        return _opened.ElementAt(index);
    }

    /// <summary>Why the server has rejected its first connection, from its log; there are no sessions.</summary>
    public async Task<string> RejectedAsync()
    {
        await Patience.UntilAsync(() => _log.WithId(3001).Count != 0, "a connection was rejected");
        Assert.Empty(_opened);
        return _log.WithId(3001)[0].Text;
    }

    /// <summary>The server still serves a client of ours.</summary>
    /// <param name="certificateFile">The client's certificate; empty for none.</param>
    public async Task StillServesAsync(string certificateFile = "")
    {
        var options = new FastPortClientOptions { Endpoint = $"tls://127.0.0.1:{Port}", Reconnect = false };
        options.Tls.AuthorityFile = Files["ca.pem"];
        options.Tls.CertificateFile = certificateFile;
        options.Tls.AllowTls12 = _allowsTls12;
        await using var client = new FastPortClient(options);
        await client.ConnectAsync(Patience.Token);
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            await _server.StopAsync(new CancellationToken(canceled: true));
        }

        Files.Dispose();
    }
}
