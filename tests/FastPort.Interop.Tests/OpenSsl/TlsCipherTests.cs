using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>A server that allows TLS 1.2: its cipher suites, no compression, no renegotiation.</summary>
public sealed class TlsCipherTests
{
    private const string Connected = "Verify return code: 0 (ok)";

    [OpenSslTheory]
    [InlineData("ECDHE-ECDSA-AES256-GCM-SHA384")]
    [InlineData("ECDHE-ECDSA-AES128-GCM-SHA256")]
    public async Task Authenticated_suites_with_forward_secrecy_are_accepted(string suite)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await using OpenSslProcess client = server.Connect("-tls1_2", "-cipher", suite, "-comp");

        string said = await client.SaysAsync("Extended master secret: yes");

        Assert.Contains($"Cipher is {suite}\n", said, StringComparison.Ordinal);
        Assert.Contains("Compression: NONE", said, StringComparison.Ordinal);
        Assert.Contains("Secure Renegotiation IS supported", said, StringComparison.Ordinal);
    }

    [OpenSslTheory]
    [InlineData("ECDHE-ECDSA-NULL-SHA")]
    [InlineData("AECDH-AES256-SHA")]
    [InlineData("ECDHE-ECDSA-AES256-SHA")]
    [InlineData("ECDHE-ECDSA-AES128-SHA")]
    public async Task Suites_without_authenticated_encryption_are_refused(string suite)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await RefusesAsync(server, suite);
    }

    [OpenSslTheory]
    [InlineData("ECDHE-ECDSA-AES128-SHA256")]
    [InlineData("ECDHE-ECDSA-AES256-SHA384")]
    public async Task Suites_with_cbc_are_refused_after_the_handshake_and_never_chosen(string suite)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await using OpenSslProcess only = server.Connect("-tls1_2", "-cipher", suite);

        Assert.Contains("is not allowed; offer one with AES-GCM", await server.RejectedAsync(), StringComparison.Ordinal);
        await using OpenSslProcess better = server.Connect("-tls1_2", "-cipher", $"{suite}:ECDHE-ECDSA-AES128-GCM-SHA256");
        await better.SaysAsync("Cipher is ECDHE-ECDSA-AES128-GCM-SHA256\n");
    }

    [OpenSslTheory]
    [InlineData("NULL-SHA256")]
    [InlineData("AES256-GCM-SHA384")]
    [InlineData("AES128-SHA256")]
    [InlineData("AES128-SHA")]
    [InlineData("DHE-RSA-AES256-GCM-SHA384")]
    [InlineData("DHE-RSA-AES128-SHA")]
    [InlineData("ECDHE-RSA-AES256-SHA")]
    public async Task Suites_without_forward_secrecy_are_refused_with_an_rsa_key_too(string suite)
    {
        await using TlsServerForOpenSsl server = await StartWithRsaAsync();
        await RefusesAsync(server, suite);
    }

    [OpenSslFact]
    public async Task With_an_rsa_key_suites_with_forward_secrecy_are_accepted()
    {
        await using TlsServerForOpenSsl server = await StartWithRsaAsync();
        await using OpenSslProcess client = server.Connect("-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256");

        Assert.Contains("Cipher is ECDHE-RSA-AES128-GCM-SHA256\n", await client.SaysAsync(Connected), StringComparison.Ordinal);
    }

    [OpenSslTheory]
    [InlineData("TLS_AES_256_GCM_SHA384")]
    [InlineData("TLS_CHACHA20_POLY1305_SHA256")]
    [InlineData("TLS_AES_128_GCM_SHA256")]
    public async Task The_suites_of_tls_1_3_are_accepted(string suite)
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        await using OpenSslProcess client = server.Connect("-ciphersuites", suite);

        string said = await client.SaysAsync(Connected);

        Assert.Contains($"New, TLSv1.3, Cipher is {suite}\n", said, StringComparison.Ordinal);
        Assert.Contains("Compression: NONE", said, StringComparison.Ordinal);
    }

    [OpenSslFact]
    public async Task A_renegotiation_is_refused()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        await using OpenSslProcess client = server.Connect("-tls1_2");
        await client.SaysAsync(Connected);
        Session session = await server.SessionAsync();

        await client.SendLineAsync("R");

        // By the end of the connection: no second handshake is made.
        string said = await client.EndsAsync();
        Assert.DoesNotContain("verify return:", said.Split("RENEGOTIATING")[1], StringComparison.Ordinal);
        await session.Closed.InTimeAsync();
        await server.StillServesAsync();
    }

    private static async Task RefusesAsync(TlsServerForOpenSsl server, string suite)
    {
        await using OpenSslProcess client = server.Connect("-tls1_2", "-cipher", $"{suite}@SECLEVEL=0");

        Assert.Contains("alert handshake failure", await client.EndsAsync(), StringComparison.Ordinal);

        Assert.Contains("it shares no cipher suite with this server", await server.RejectedAsync(), StringComparison.Ordinal);
        await server.StillServesAsync();
    }

    // With TLS 1.2; the certificate is its own authority.
    private static Task<TlsServerForOpenSsl> StartWithRsaAsync() => TlsServerForOpenSsl.StartAsync(static (server, options) =>
    {
        options.AllowTls12 = true;
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=rsa", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(System.Net.IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 certificate = request.CreateSelfSigned(TestCertificates.NotBefore, TestCertificates.NotAfter);
        string pem = certificate.ExportCertificatePem() + "\n";
        File.WriteAllText(server.Files["ca.pem"], pem);
        File.WriteAllText(server.Files["server.pem"], pem + key.ExportPkcs8PrivateKeyPem() + "\n");
    });
}
