using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Candidates;

/// <summary>
/// The certificate that all servers of a run show: ECDSA P-256, signed by itself, for this machine's loopback address, valid for a day. Its
/// files lie in the run's temporary folder and go with it.
/// </summary>
/// <param name="CertificateFile">The certificate, as PEM; clients trust it.</param>
/// <param name="KeyFile">Its private key, as PEM.</param>
internal sealed record TestCertificate(string CertificateFile, string KeyFile)
{
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";

    /// <summary>Makes one with a new key.</summary>
    public static TestCertificate Create(Workbench bench)
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=FastPort comparisons", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Loopback);
        names.AddDnsName("localhost");
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(ServerAuthentication)], critical: false));
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        using X509Certificate2 certificate = request.CreateSelfSigned(now.AddHours(-1), now.AddDays(1));
        var files = new TestCertificate(bench.NewPath("server.pem"), bench.NewPath("server.key"));
        File.WriteAllText(files.CertificateFile, certificate.ExportCertificatePem());
        File.WriteAllText(files.KeyFile, key.ExportPkcs8PrivateKeyPem());
        return files;
    }
}
