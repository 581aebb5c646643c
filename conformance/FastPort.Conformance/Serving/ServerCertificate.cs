using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Conformance.Serving;

/// <summary>The certificate of a run's servers, for 127.0.0.1, and the authority that clients must trust, as files.</summary>
internal sealed class ServerCertificate
{
    private const string ServerUse = "1.3.6.1.5.5.7.3.1";

    /// <param name="folder">Where the files are written.</param>
    public ServerCertificate(string folder)
    {
        DateTimeOffset from = DateTimeOffset.UtcNow.AddDays(-1);
        DateTimeOffset until = from.AddYears(1);
        using var authorityKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var authorityRequest = new CertificateRequest("CN=FastPort conformance", authorityKey, HashAlgorithmName.SHA256);
        authorityRequest.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForCertificateAuthority());
        authorityRequest.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, critical: true));
        authorityRequest.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(authorityRequest.PublicKey, critical: false));
        using X509Certificate2 authority = authorityRequest.CreateSelfSigned(from, until);

        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=127.0.0.1", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(ServerUse)], critical: false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 certificate = request.Create(authority, from, until, RandomNumberGenerator.GetBytes(16));

        AuthorityFile = Write("authority.pem", authority.ExportCertificatePem());
        CertificateFile = Write("server.pem", certificate.ExportCertificatePem());
        KeyFile = Write("server.key", key.ExportPkcs8PrivateKeyPem());

        string Write(string name, string pem)
        {
            string path = Path.Combine(folder, name);
            File.WriteAllText(path, pem + "\n");
            return path;
        }
    }

    public string AuthorityFile { get; }

    public string CertificateFile { get; }

    public string KeyFile { get; }
}
