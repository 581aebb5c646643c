using System.Security.Authentication;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>OpenSSL's client against our server: versions, certificates, the application protocol, the server's name.</summary>
public sealed class TlsServerTests
{
    // What OpenSSL's client says when it has ended a handshake, without regard to the version.
    private const string Connected = "Verify return code: 0 (ok)";

    [OpenSslTheory]
    [InlineData("127.0.0.1", "-verify_ip")]
    [InlineData("localhost", "-verify_hostname")]
    public async Task Tls_1_3_works_and_the_certificate_is_good(string name, string verify)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        await using OpenSslProcess client = server.Connect("-alpn", "fastport/1", verify, name);

        await client.SaysAsync(Connected);
        Session session = await server.SessionAsync();
        string said = await client.FinishAsync();

        Assert.Contains("New, TLSv1.3, Cipher is TLS_", said, StringComparison.Ordinal);
        Assert.Contains("ALPN protocol: fastport/1", said, StringComparison.Ordinal);
        Assert.Contains("Verification: OK", said, StringComparison.Ordinal);
        TlsInfo tls = session.Tls!;
        Assert.Equal((SslProtocols.Tls13, "fastport/1"), (tls.Protocol, tls.ApplicationProtocol));
        CloseReason reason = await session.Closed.InTimeAsync();
        Assert.Equal(CloseKind.PeerClosed, reason.Kind);
    }

    [OpenSslFact]
    public async Task A_certificate_without_the_name_is_refused_by_the_client()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        await using OpenSslProcess client = server.Connect("-verify_hostname", "elsewhere.example");

        Assert.Contains("hostname mismatch", await client.EndsAsync(), StringComparison.OrdinalIgnoreCase);

        await server.StillServesAsync();
    }

    [OpenSslFact]
    public async Task Tls_1_2_is_refused_by_default()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        await using OpenSslProcess client = server.Connect("-tls1_2");

        Assert.Contains("alert protocol version", await client.EndsAsync(), StringComparison.Ordinal);

        Assert.Contains("it offers no TLS version that is allowed here", await server.RejectedAsync(), StringComparison.Ordinal);
        await server.StillServesAsync();
    }

    [OpenSslFact]
    public async Task Tls_1_2_works_if_it_is_allowed_and_1_3_is_preferred()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await using OpenSslProcess old = server.Connect("-tls1_2", "-alpn", "fastport/1", "-verify_hostname", "localhost");
        await using OpenSslProcess current = server.Connect("-alpn", "fastport/1");

        Assert.Contains("New, TLSv1.2, Cipher is ECDHE-", await old.SaysAsync(Connected), StringComparison.Ordinal);
        Assert.Contains("New, TLSv1.3, Cipher is ", await current.SaysAsync(Connected), StringComparison.Ordinal);
    }

    [OpenSslTheory]
    [InlineData("-tls1_1", false)]
    [InlineData("-tls1_1", true)]
    [InlineData("-tls1", false)]
    [InlineData("-tls1", true)]
    public async Task Older_versions_are_always_refused(string version, bool allowTls12)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync((_, options) => options.AllowTls12 = allowTls12);
        await using OpenSslProcess client = server.Connect(version, "-cipher", "DEFAULT@SECLEVEL=0");

        Assert.Contains("alert protocol version", await client.EndsAsync(), StringComparison.Ordinal);

        await server.RejectedAsync();
        await server.StillServesAsync();
    }

    [OpenSslTheory]
    [InlineData("-tls1_3")]
    [InlineData("-tls1_2")]
    public async Task Another_application_protocol_is_refused(string version)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await using OpenSslProcess client = server.Connect(version, "-alpn", "http/1.1");

        Assert.Contains("alert no application protocol", await client.EndsAsync(), StringComparison.Ordinal);

        Assert.Contains("it asked for a protocol other than fastport/1", await server.RejectedAsync(), StringComparison.Ordinal);
        await server.StillServesAsync();
    }

    [OpenSslTheory]
    [InlineData("h2,fastport/1", "ALPN protocol: fastport/1", "fastport/1")]
    [InlineData("", "No ALPN negotiated", "")]
    public async Task Ours_among_others_or_none_is_accepted(string offered, string says, string agreed)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        await using OpenSslProcess client = server.Connect(offered.Length == 0 ? [] : ["-alpn", offered]);

        Assert.Contains(says, await client.SaysAsync(Connected), StringComparison.Ordinal);

        Assert.Equal(agreed, (await server.SessionAsync()).Tls!.ApplicationProtocol);
    }

    [OpenSslTheory]
    [InlineData("one.example", "CN = one")]
    [InlineData("x.two.example", "CN = all")]
    [InlineData("other.example", "CN = server")]
    [InlineData("", "CN = server")]
    public async Task The_name_asked_for_chooses_the_certificate_of_a_folder(string name, string subject)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync(static (server, options) =>
        {
            options.CertificateFolder = Directory.CreateDirectory(server.Files["folder"]).FullName;
            server.Authority.Issue("one", dns: ["one.example"]).WritePem(server.Files["folder/one.pem"], withKey: true);
            server.Authority.Issue("all", dns: ["*.two.example"]).WritePem(server.Files["folder/all.pem"], withKey: true);
        });
        await using OpenSslProcess client = server.Connect(name.Length == 0 ? ["-noservername"] : ["-servername", name]);

        Assert.Contains($"subject={subject}\n", await client.SaysAsync(Connected), StringComparison.Ordinal);

        Assert.Equal(name, (await server.SessionAsync()).Tls!.ServerName);
    }
}
