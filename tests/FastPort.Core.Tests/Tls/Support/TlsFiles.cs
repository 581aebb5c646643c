namespace FastPort.Core.Tests.Tls.Support;

/// <summary>One server's certificate for all tests that only need an encrypted link.</summary>
internal static class TlsFiles
{
    private static readonly TemporaryDirectory Directory = Create();

    public static TlsServerOptions Server { get; } = new()
    {
        CertificateFile = Directory["server.pem"],
        MaxConcurrentHandshakes = 2,
    };

    public static TlsClientOptions Client { get; } = new() { AuthorityFile = Directory["ca.pem"] };

    private static TemporaryDirectory Create()
    {
        var directory = TemporaryDirectory.OfProcess();
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(directory["ca.pem"]);
        authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]).WritePem(directory["server.pem"], withKey: true);
        return directory;
    }
}
