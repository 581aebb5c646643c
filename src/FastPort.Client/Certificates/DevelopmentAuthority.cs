using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Client.Certificates;

/// <summary>
/// An authority for development, which signs certificates of servers and clients. Its key is in a file without a password, so trusting it
/// means trusting everyone who can read that file.
/// </summary>
internal sealed class DevelopmentAuthority : IDisposable
{
    private const int Years = 10;
    private const int SerialBytes = 16;

    // Clocks of other machines may be behind.
    private static readonly TimeSpan Backdating = TimeSpan.FromHours(1);
    private static readonly Oid ServerAuthentication = new("1.3.6.1.5.5.7.3.1");
    private static readonly Oid ClientAuthentication = new("1.3.6.1.5.5.7.3.2");

    private readonly X509Certificate2 _certificate;
    private readonly ECDsa _key;
    private readonly DateTimeOffset _now;

    private DevelopmentAuthority(X509Certificate2 certificate, ECDsa key, DateTimeOffset now) =>
        (_certificate, _key, _now) = (certificate, key, now);

    /// <summary>When the authority's own certificate expires.</summary>
    public DateTimeOffset NotAfter => new(_certificate.NotAfter);

    /// <summary>Creates an authority with a new key.</summary>
    /// <param name="now">The time.</param>
    public static DevelopmentAuthority Create(DateTimeOffset now)
    {
        var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var identifier = new X509SubjectKeyIdentifierExtension(new PublicKey(key), critical: false);

        // The name identifies the authority: some programs select it among trusted ones by its name alone.
        CertificateRequest request = Request($"FastPort development authority {identifier.SubjectKeyIdentifier![..8]}", key);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: true, 0, critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(identifier);
        return new DevelopmentAuthority(Sign(request, request.SubjectName, key, now, now.AddYears(Years)), key, now);
    }

    /// <summary>Reads an existing authority; null if it cannot be used.</summary>
    /// <param name="pair">Its certificate and key.</param>
    /// <param name="now">The time.</param>
    /// <param name="problem">What is wrong with which file: the end of a sentence.</param>
    public static DevelopmentAuthority? Read((string Certificate, string Key) pair, DateTimeOffset now, out string? problem)
    {
        X509Certificate2? certificate = null;
        var key = ECDsa.Create();
        problem = "ca.pem has no certificate in PEM form";
        try
        {
            certificate = X509Certificate2.CreateFromPem(pair.Certificate);
            problem = "ca.key has no ECDSA key in PEM form without a password";
            key.ImportFromPem(pair.Key);
            problem = WhatIsWrong(certificate, key, now);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            // The problem is that of the step that failed.
        }

        if (problem is null)
        {
            return new DevelopmentAuthority(certificate!, key, now);
        }

        certificate?.Dispose();
        key.Dispose();
        return null;
    }

    /// <summary>The authority's certificate and key.</summary>
    public PemPair ToPem() => Pair(_certificate, _key);

    /// <summary>Creates a server's certificate and its key.</summary>
    /// <param name="names">DNS names and IP addresses.</param>
    /// <param name="days">How long it is valid; not longer than the authority.</param>
    public PemPair SignServer(IReadOnlyList<string> names, int days) =>
        SignLeaf("FastPort development server", ServerAuthentication, SubjectNames.Alternatives(names), days);

    /// <summary>Creates a client's certificate and its key.</summary>
    /// <param name="name">The common name.</param>
    /// <param name="days">How long it is valid; not longer than the authority.</param>
    public PemPair SignClient(string name, int days) => SignLeaf(name, ClientAuthentication, alternatives: null, days);

    public void Dispose()
    {
        _certificate.Dispose();
        _key.Dispose();
    }

    private static string? WhatIsWrong(X509Certificate2 certificate, ECDsa key, DateTimeOffset now)
    {
        if (!certificate.PublicKey.ExportSubjectPublicKeyInfo().AsSpan().SequenceEqual(key.ExportSubjectPublicKeyInfo()))
        {
            return "ca.key is not the key of ca.pem";
        }

        if (Extension<X509BasicConstraintsExtension>(certificate) is not { CertificateAuthority: true }
            || Extension<X509KeyUsageExtension>(certificate)?.KeyUsages.HasFlag(X509KeyUsageFlags.KeyCertSign) == false
            || Extension<X509SubjectKeyIdentifierExtension>(certificate) is null)
        {
            return "ca.pem is not an authority's certificate: it lacks CA, certSign or the subject key identifier";
        }

        return now < new DateTimeOffset(certificate.NotBefore) ? $"ca.pem is not valid before {certificate.NotBefore:yyyy-MM-dd}"
            : now >= new DateTimeOffset(certificate.NotAfter) ? $"ca.pem has expired on {certificate.NotAfter:yyyy-MM-dd}"
            : null;
    }

    private PemPair SignLeaf(string commonName, Oid purpose, X509Extension? alternatives, int days)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = Request(commonName, key);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([purpose], critical: false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromSubjectKeyIdentifier(
            Extension<X509SubjectKeyIdentifierExtension>(_certificate)!));
        if (alternatives is not null)
        {
            request.CertificateExtensions.Add(alternatives);
        }

        DateTimeOffset end = _now.AddDays(days);
        using X509Certificate2 certificate = Sign(request, _certificate.SubjectName, _key, _now, end < NotAfter ? end : NotAfter);
        return Pair(certificate, key);
    }

    private static CertificateRequest Request(string commonName, ECDsa key)
    {
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(commonName);
        return new CertificateRequest(subject.Build(), key, HashAlgorithmName.SHA256);
    }

    private static X509Certificate2 Sign(
        CertificateRequest request, X500DistinguishedName issuer, ECDsa key, DateTimeOffset now, DateTimeOffset end)
    {
        byte[] serial = RandomNumberGenerator.GetBytes(SerialBytes);

        // Positive, and not shortened by leading zeros.
        serial[0] = (byte)((serial[0] & 0x7F) | 0x40);
        return request.Create(issuer, X509SignatureGenerator.CreateForECDsa(key), now - Backdating, end, serial);
    }

    private static T? Extension<T>(X509Certificate2 certificate)
        where T : X509Extension => certificate.Extensions.OfType<T>().FirstOrDefault();

    private static PemPair Pair(X509Certificate2 certificate, ECDsa key) =>
        new(certificate.ExportCertificatePem() + "\n", key.ExportPkcs8PrivateKeyPem() + "\n", new DateTimeOffset(certificate.NotAfter));
}
