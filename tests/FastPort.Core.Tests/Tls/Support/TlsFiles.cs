using FastPort.Tls;

namespace FastPort.Core.Tests.Tls.Support;

/// <summary>One server's certificate for all tests that only need an encrypted link.</summary>
internal static class TlsFiles
{
    private static readonly string Directory = Create();

    public static TlsServerOptions Server { get; } = new()
    {
        CertificateFile = Path.Combine(Directory, "server.pem"),
        MaxConcurrentHandshakes = 2,
    };

    public static TlsClientOptions Client { get; } = new() { AuthorityFile = Path.Combine(Directory, "ca.pem") };

    private static string Create()
    {
        string directory = System.IO.Directory.CreateTempSubdirectory("fastport-tls").FullName;
        AppDomain.CurrentDomain.ProcessExit += (_, _) => System.IO.Directory.Delete(directory, recursive: true);
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(Path.Combine(directory, "ca.pem"));
        authority.Issue("server", dns: ["localhost"], ip: ["127.0.0.1"]).WritePem(Path.Combine(directory, "server.pem"), withKey: true);
        return directory;
    }
}
