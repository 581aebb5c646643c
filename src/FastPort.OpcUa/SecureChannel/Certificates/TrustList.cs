using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The contents of the folders when they were read: trusted certificates, issuers and their revocation lists. Decides whether a certificate
/// can be trusted (OPC 10000-4, 6.1.3). Not thread-safe.
/// </summary>
internal sealed class TrustList : IDisposable
{
    private static readonly string[] Extensions = [".der", ".crt", ".cer", ".pem"];

    private readonly X509Certificate2? _own;
    private readonly List<X509Certificate2> _trusted;
    private readonly List<X509Certificate2> _issuers;
    private readonly List<(string File, RevocationList? List)> _revocations;
    private readonly List<(string File, string? Problem)> _certificates = [];

    /// <param name="own">The file of the application's own certificate, which need not be there.</param>
    /// <param name="trusted">The folder of trusted certificates.</param>
    /// <param name="issuers">The folder of their issuers.</param>
    /// <exception cref="IOException">A folder cannot be read.</exception>
    public TrustList(string own, string trusted, string issuers)
    {
        _own = File.Exists(own) ? TryLoad(own) : null;
        _trusted = Load(trusted);
        _issuers = Load(issuers);
        _revocations = [.. LoadRevocations(trusted), .. LoadRevocations(issuers)];
    }

    /// <summary>
    /// Good if the certificate is trusted itself or through a chain of issuers, and no certificate of the chain is revoked.
    /// </summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="sent">Certificates that have come with it: a path may go through them, and does not end with one.</param>
    /// <param name="now">The current time.</param>
    /// <param name="requireLists">Whether each authority of the chain must have a revocation list.</param>
    public StatusCode Check(
        X509Certificate2 certificate, X509Certificate2Collection sent, DateTimeOffset now, bool requireLists)
    {
        using X509Chain chain = MakeChain(sent, now);
        bool isWhole = chain.Build(certificate);
        X509Certificate2[] path = PathOf(chain);
        bool isTrusted = Holds(certificate) || (isWhole && path.Skip(1).Any(IsTrusted));
        return !isTrusted ? IsWhole(path) ? StatusCodes.BadCertificateUntrusted : StatusCodes.BadCertificateChainIncomplete
            : path.Skip(1).All(one => IsInTime(one, now)) ? CheckRevocation(path, now, requireLists)
            : StatusCodes.BadCertificateIssuerTimeInvalid;
    }

    /// <summary>The name of the issuer at which the path from a certificate breaks off; null if it does not.</summary>
    public string? MissingIssuer(X509Certificate2 certificate, X509Certificate2Collection sent)
    {
        using X509Chain chain = MakeChain(sent, new DateTimeOffset(certificate.NotBefore));
        chain.Build(certificate);
        X509Certificate2[] path = PathOf(chain);
        return IsWhole(path) ? null : path[^1].Issuer;
    }

    /// <summary>Whether the certificate itself is trusted, not its issuer.</summary>
    public bool Holds(X509Certificate2 certificate) => IsTrusted(certificate) || IsSame(_own, certificate);

    /// <summary>The files of revocation lists, each with why it does not count; null if it counts.</summary>
    public IEnumerable<(string File, string? Problem)> CheckLists() => _revocations.Select(one => (one.File, one.List switch
    {
        null => "it cannot be read as an X.509 CRL, or has a critical extension",
        { } list when !_trusted.Concat(_issuers).Any(list.IsOf) =>
            "no certificate in trusted or issuers is the authority that signed it with RSA PKCS #1 or ECDSA, and SHA-2",
        _ => null,
    }));

    /// <summary>The files of certificates, each with what is wrong with it; null if all of its contents count.</summary>
    public IEnumerable<(string File, string? Problem)> CheckCertificates() => _certificates;

    public static bool IsInTime(X509Certificate2 certificate, DateTimeOffset now) =>
        now.UtcDateTime >= certificate.NotBefore.ToUniversalTime() && now.UtcDateTime <= certificate.NotAfter.ToUniversalTime();

    public void Dispose()
    {
        _own?.Dispose();
        _trusted.ForEach(static one => one.Dispose());
        _issuers.ForEach(static one => one.Dispose());
    }

    private X509Chain MakeChain(X509Certificate2Collection sent, DateTimeOffset now)
    {
        X509Certificate2[] known = [.. _trusted, .. _issuers];
        var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.DisableCertificateDownloads = true;
        chain.ChainPolicy.VerificationTime = now.UtcDateTime;

        // Validity times have separate statuses.
        chain.ChainPolicy.VerificationFlags = X509VerificationFlags.IgnoreNotTimeValid;
        chain.ChainPolicy.CustomTrustStore.AddRange(known);
        chain.ChainPolicy.ExtraStore.AddRange(known);
        chain.ChainPolicy.ExtraStore.AddRange(sent);
        return chain;
    }

    private static X509Certificate2[] PathOf(X509Chain chain) => [.. chain.ChainElements.Select(static element => element.Certificate)];

    // Whether it ends with a self-signed certificate. An unreadable chain has no end.
    private static bool IsWhole(X509Certificate2[] path) =>
        path.Length == 0 || path[^1].SubjectName.RawData.AsSpan().SequenceEqual(path[^1].IssuerName.RawData);

    // The path begins with the certificate; each is issued by the next one.
    private StatusCode CheckRevocation(X509Certificate2[] path, DateTimeOffset now, bool requireLists)
    {
        for (int i = 0; i < path.Length; i++)
        {
            bool isLast = i == path.Length - 1;
            if (isLast && IsWhole(path))
            {
                break;
            }

            RevocationList[] lists = isLast ? [] : ListsOf(path[i + 1]);
            if (lists.Any(list => list.Revokes(path[i])))
            {
                return i == 0 ? StatusCodes.BadCertificateRevoked : StatusCodes.BadCertificateIssuerRevoked;
            }

            // An outdated list still shows earlier revocations, but not later ones.
            if (requireLists && !lists.Any(list => now <= list.Until))
            {
                return i == 0 ? StatusCodes.BadCertificateRevocationUnknown : StatusCodes.BadCertificateIssuerRevocationUnknown;
            }
        }

        return StatusCodes.Good;
    }

    private RevocationList[] ListsOf(X509Certificate2 authority) =>
        [.. _revocations.Select(static one => one.List).OfType<RevocationList>().Where(list => list.IsOf(authority))];

    private bool IsTrusted(X509Certificate2 certificate) => _trusted.Any(one => IsSame(one, certificate));

    private static bool IsSame(X509Certificate2? one, X509Certificate2 other) =>
        one?.RawDataMemory.Span.SequenceEqual(other.RawDataMemory.Span) == true;

    private List<X509Certificate2> Load(string folder)
    {
        List<X509Certificate2> all = [];
        foreach (string file in Directory.EnumerateFiles(folder)
            .Where(static file => Extensions.Contains(Path.GetExtension(file), StringComparer.OrdinalIgnoreCase)))
        {
            _certificates.Add((file, Read(file, all)));
        }

        return all;
    }

    // A DER file has one certificate, a PEM file may have several. Returns the problem: an incomplete file does not count.
    private static string? Read(string file, List<X509Certificate2> all)
    {
        try
        {
            byte[] bytes = File.ReadAllBytes(file);
            PemText pem = new(System.Text.Encoding.ASCII.GetString(bytes));
            if (pem is { Damage: null, Blocks: [] })
            {
                all.Add(X509CertificateLoader.LoadCertificate(bytes));
                return null;
            }

            string? problem = pem.Damage ?? (pem.Certificates.Count == 0 ? "it has no CERTIFICATE block" : null);
            foreach (PemBlock block in pem.Certificates)
            {
                try
                {
                    all.Add(X509Certificate2.CreateFromPem(block.Text));
                }
                catch (CryptographicException)
                {
                    problem ??= string.Create(CultureInfo.InvariantCulture, $"block {block.Number} is not a certificate");
                }
            }

            return problem;
        }
        catch (FileNotFoundException)
        {
            // It has just been deleted.
            return null;
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            return e is CryptographicException ? "it is not a certificate in DER or PEM" : "it cannot be read";
        }
    }

    // Null if it is not a certificate, or cannot be read: then no certificate can depend on it.
    private static X509Certificate2? TryLoad(string file)
    {
        try
        {
            return X509CertificateLoader.LoadCertificateFromFile(file);
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    // Null if it cannot be read: it is ignored and logged.
    private static RevocationList? TryReadList(string file)
    {
        try
        {
            return RevocationList.TryRead(File.ReadAllBytes(file));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static IEnumerable<(string File, RevocationList? List)> LoadRevocations(string folder) => Directory.EnumerateFiles(folder)
        .Where(static file => Path.GetExtension(file).Equals(".crl", StringComparison.OrdinalIgnoreCase))
        .Select(static file => (file, TryReadList(file)));
}
