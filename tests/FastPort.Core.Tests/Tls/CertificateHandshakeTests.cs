using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>The certificates in handshakes of .NET's TLS.</summary>
public sealed class CertificateHandshakeTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData("main.example.org", "CN=main")]
    [InlineData("some.example.org", "CN=wildcard")]
    [InlineData("xn--bcher-kva.example", "CN=books")]
    public async Task A_peer_gets_the_certificate_of_its_name_and_the_chain(string name, string subject)
    {
        TestAuthority root = TestCertificates.CreateAuthority();
        TestAuthority intermediate = root.CreateIntermediate();
        intermediate.Issue("main", dns: ["main.example.org"]).WritePem(_directory["main"], withKey: true);
        Directory.CreateDirectory(_directory["d"]);
        intermediate.Issue("wildcard", dns: ["*.example.org"]).WritePfx(_directory["d/1.pfx"]);
        intermediate.Issue("books", dns: ["xn--bcher-kva.example"]).WritePem(_directory["d/2.pem"], withKey: true);
        using ServerCertificates certificates = new(
            new TlsServerOptions { CertificateFile = _directory["main"], CertificateFolder = _directory["d"] },
            "FastPort",
            TimeProvider.System,
            new RecordingLog());

        Assert.Equal(subject, await ShownAsync(certificates, name, root));
    }

    private static async Task<string> ShownAsync(ServerCertificates certificates, string name, TestAuthority trusted)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient();
        await client.ConnectAsync((IPEndPoint)listener.LocalEndpoint).InTimeAsync();
        using TcpClient accepted = await listener.AcceptTcpClientAsync().InTimeAsync();
        using var serverSide = new SslStream(accepted.GetStream());
        using var clientSide = new SslStream(client.GetStream());

        Task server = serverSide.AuthenticateAsServerAsync(
            (_, hello, _, _) => ValueTask.FromResult(
                new SslServerAuthenticationOptions { ServerCertificateContext = certificates.Select(hello.ServerName).Context }),
            null);
        await clientSide.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = name,
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                CustomTrustStore = { trusted.Certificate },
                RevocationMode = X509RevocationMode.NoCheck,
            },
        }).InTimeAsync();
        await server.InTimeAsync();
        return clientSide.RemoteCertificate!.Subject;
    }
}
