using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.Versioning;
using System.Security.Authentication;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

public sealed class TlsProtocolsTests
{
    [Theory]
    [InlineData(SslProtocols.Tls13, TlsCipherSuite.TLS_AES_128_GCM_SHA256)]
    [InlineData(SslProtocols.Tls13, TlsCipherSuite.TLS_AES_256_GCM_SHA384)]
    [InlineData(SslProtocols.Tls13, TlsCipherSuite.TLS_CHACHA20_POLY1305_SHA256)]
    [InlineData(SslProtocols.Tls12, TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384)]
    [InlineData(SslProtocols.Tls12, TlsCipherSuite.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256)]
    [SupportedOSPlatform("linux")]
    public async Task A_record_has_as_many_bytes_besides_its_data_as_its_suite_says(SslProtocols version, TlsCipherSuite suite)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Suites are chosen on Linux.");
        const int Data = 7;
        TestCertificate certificate = TestCertificates.CreateAuthority().Issue("server", dns: ["localhost"]);
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient();
        await client.ConnectAsync((IPEndPoint)listener.LocalEndpoint, Patience.Token);
        using TcpClient accepted = await listener.AcceptTcpClientAsync(Patience.Token);
        await using var server = new SslStream(accepted.GetStream());
        await using var stream = new SslStream(client.GetStream());
        var policy = new CipherSuitesPolicy([suite]);
        await Task.WhenAll(
            server.AuthenticateAsServerAsync(
                new SslServerAuthenticationOptions
                {
                    ServerCertificate = certificate.Certificate,
                    EnabledSslProtocols = version,
                    CipherSuitesPolicy = policy,
                },
                Patience.Token),
            stream.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions
                {
                    TargetHost = "localhost",
                    EnabledSslProtocols = version,
                    CipherSuitesPolicy = policy,
                    RemoteCertificateValidationCallback = static (_, shown, _, _) => shown is not null,
                },
                Patience.Token));

        await stream.WriteAsync(new byte[Data], Patience.Token);

        byte[] header = new byte[5];
        await accepted.GetStream().ReadExactlyAsync(header, Patience.Token);
        Assert.Equal(suite, stream.NegotiatedCipherSuite);
        Assert.Equal(Data + TlsProtocols.Overhead(version, suite), (header[3] << 8) | header[4]);
    }
}
