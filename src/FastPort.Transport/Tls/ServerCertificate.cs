using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>A certificate that a server presents. Immutable; safe from any thread.</summary>
internal sealed class ServerCertificate
{
    private const string CommonName = "2.5.4.3";

    private readonly LoadedCertificate _loaded;

    /// <summary>Prepares a certificate for handshakes.</summary>
    /// <param name="source">Where it comes from: the file's name.</param>
    /// <param name="loaded">The certificate.</param>
    /// <exception cref="CertificateException">It cannot be used.</exception>
    public ServerCertificate(string source, LoadedCertificate loaded)
    {
        Source = source;
        _loaded = loaded;
        NotAfter = new DateTimeOffset(loaded.Certificate.NotAfter).ToUniversalTime();
        try
        {
            Names = ReadNames(loaded.Certificate);

            // Offline: a start must not wait for the answer of an authority's server.
            Context = SslStreamCertificateContext.Create(loaded.Certificate, loaded.Chain, offline: true);
        }
        catch (CryptographicException e)
        {
            throw new CertificateException($"The certificate of {source} cannot be used. Issue it again. The system says: {e.Message}", e);
        }
    }

    /// <summary>Where it comes from: the file's name.</summary>
    public string Source { get; }

    /// <summary>The certificate, with its key.</summary>
    public X509Certificate2 Certificate => _loaded.Certificate;

    /// <summary>
    /// The certificate context for handshakes, created once: on Linux the sessions that may be resumed are kept in it, so that a peer
    /// resumes its session only with the same one.
    /// </summary>
    public SslStreamCertificateContext Context { get; }

    /// <summary>The DNS names it is for, wildcards too: those of subjectAltName; without any, the common name.</summary>
    public IReadOnlyList<string> Names { get; }

    /// <summary>When it expires; UTC.</summary>
    public DateTimeOffset NotAfter { get; }

    /// <summary>What others may know of it.</summary>
    public CertificateInfo Info => new(Source, Certificate.Subject, Certificate.Thumbprint, NotAfter);

    /// <summary>Whether it was made from these certificates.</summary>
    public bool Holds(LoadedCertificate loaded) => _loaded.IsSameAs(loaded);

    /// <summary>The DNS names of a certificate: those of subjectAltName; without any, the common name.</summary>
    public static string[] ReadNames(X509Certificate2 certificate)
    {
        string[] names =
            [.. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(static names => names.EnumerateDnsNames())];
        return names.Length != 0
            ? names
            : [.. certificate.SubjectName.EnumerateRelativeDistinguishedNames()
                .Where(static part => !part.HasMultipleElements && part.GetSingleElementType().Value == CommonName)
                .Select(static part => part.GetSingleElementValue())
                .OfType<string>()];
    }
}
