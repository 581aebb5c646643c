using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tests.Support;

/// <summary>Issues certificates.</summary>
internal sealed class TestAuthority
{
    private const string ServerUse = "1.3.6.1.5.5.7.3.1";
    private const string ClientUse = "1.3.6.1.5.5.7.3.2";

    private readonly TestAuthority? _issuer;

    public TestAuthority(string name, TestAuthority? issuer)
    {
        _issuer = issuer;
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForCertificateAuthority());
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        Certificate = issuer is null
            ? request.CreateSelfSigned(TestCertificates.NotBefore, TestCertificates.NotAfter)
            : issuer.Sign(request, TestCertificates.NotBefore, TestCertificates.NotAfter).CopyWithPrivateKey(key);
    }

    /// <summary>With its key.</summary>
    public X509Certificate2 Certificate { get; }

    /// <summary>An authority that this one vouches for.</summary>
    public TestAuthority CreateIntermediate(string name = "Test intermediate") => new(name, this);

    /// <summary>A certificate with its key and the intermediate authorities above it.</summary>
    /// <param name="name">The common name.</param>
    /// <param name="dns">DNS names of subjectAltName; null for none.</param>
    /// <param name="ip">IP addresses of subjectAltName; null for none.</param>
    /// <param name="client">Whether it is a client's; otherwise a server's.</param>
    /// <param name="notBefore">Defaults to <see cref="TestCertificates.NotBefore"/>.</param>
    /// <param name="notAfter">Defaults to <see cref="TestCertificates.NotAfter"/>.</param>
    public TestCertificate Issue(
        string name,
        IEnumerable<string>? dns = null,
        IEnumerable<string>? ip = null,
        bool client = false,
        DateTimeOffset? notBefore = null,
        DateTimeOffset? notAfter = null)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new Oid(client ? ClientUse : ServerUse)], critical: false));
        if (dns is not null || ip is not null)
        {
            var names = new SubjectAlternativeNameBuilder();
            dns?.ToList().ForEach(names.AddDnsName);
            ip?.ToList().ForEach(address => names.AddIpAddress(IPAddress.Parse(address)));
            request.CertificateExtensions.Add(names.Build());
        }

        X509Certificate2 certificate = Sign(request, notBefore ?? TestCertificates.NotBefore, notAfter ?? TestCertificates.NotAfter);
        List<X509Certificate2> chain = [];
        for (TestAuthority authority = this; authority._issuer is not null; authority = authority._issuer)
        {
            chain.Add(authority.Certificate);
        }

        return new TestCertificate(certificate.CopyWithPrivateKey(key), chain);
    }

    /// <summary>Writes the authority's certificate, without its key.</summary>
    public void WritePem(string path) => File.WriteAllText(path, Certificate.ExportCertificatePem() + "\n");

    private X509Certificate2 Sign(CertificateRequest request, DateTimeOffset notBefore, DateTimeOffset notAfter)
    {
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(
                Certificate, includeKeyIdentifier: true, includeIssuerAndSerial: false));
        return request.Create(Certificate, notBefore, notAfter, Guid.NewGuid().ToByteArray());
    }
}
