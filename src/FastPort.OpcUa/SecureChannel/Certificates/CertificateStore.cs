using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The certificates that this application trusts: DER or PEM files in <c>trusted</c>, their issuers in <c>issuers</c>. A certificate that
/// is not trusted is saved in <c>rejected</c>, from where an administrator moves it to <c>trusted</c>. The folders are read at each check,
/// so a change needs no restart. Thread-safe.
/// </summary>
internal sealed class CertificateStore
{
    private const int MinKeyBits = 2048;
    private const int MaxKeyBits = 4096;
    private const int MaxRejected = 100;
    private static readonly string[] Extensions = [".der", ".crt", ".cer", ".pem"];

    private readonly string _trusted;
    private readonly string _issuers;
    private readonly string _rejected;
    private readonly TimeProvider _time;

    public CertificateStore(string directory, TimeProvider time)
    {
        _time = time;
        _trusted = Path.Combine(directory, "trusted");
        _issuers = Path.Combine(directory, "issuers");
        _rejected = Path.Combine(directory, "rejected");
        Array.ForEach([_trusted, _issuers, _rejected], static folder => Directory.CreateDirectory(folder));
    }

    /// <summary>The first certificate of a chain of DER structures; null if there is none.</summary>
    public static X509Certificate2? TryReadLeaf(ReadOnlySpan<byte> chain)
    {
        try
        {
            if (!AsnDecoder.TryReadEncodedValue(
                chain, AsnEncodingRules.DER, out _, out int offset, out int length, out _))
            {
                return null;
            }

            return X509CertificateLoader.LoadCertificate(chain[..(offset + length)]);
        }
        catch (CryptographicException)
        {
            return null;
        }
    }

    /// <summary>Checks a peer's certificate (OPC 10000-4, 6.1.3). Good if it can be trusted.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="applicationUri">What must stand in it; null if that is not known yet.</param>
    public StatusCode Validate(X509Certificate2 certificate, string? applicationUri)
    {
        using RSA? key = certificate.GetRSAPublicKey();
        if (key is null || key.KeySize is < MinKeyBits or > MaxKeyBits)
        {
            return StatusCodes.BadCertificateInvalid;
        }

        if (!IsTrusted(certificate))
        {
            Reject(certificate);
            return StatusCodes.BadCertificateUntrusted;
        }

        DateTime now = _time.GetUtcNow().UtcDateTime;
        if (now < certificate.NotBefore.ToUniversalTime() || now > certificate.NotAfter.ToUniversalTime())
        {
            return StatusCodes.BadCertificateTimeInvalid;
        }

        const X509KeyUsageFlags Needed =
            X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.KeyEncipherment | X509KeyUsageFlags.DataEncipherment;
        if (certificate.Extensions.OfType<X509KeyUsageExtension>().FirstOrDefault() is { } usage && (usage.KeyUsages & Needed) == 0)
        {
            return StatusCodes.BadCertificateUseNotAllowed;
        }

        return applicationUri is null || ApplicationUriOf(certificate) == applicationUri
            ? StatusCodes.Good
            : StatusCodes.BadCertificateUriInvalid;
    }

    /// <summary>The URI of the subject's alternative names; null if there is none.</summary>
    public static string? ApplicationUriOf(X509Certificate2 certificate)
    {
        const string SubjectAlternativeName = "2.5.29.17";
        var uriTag = new Asn1Tag(TagClass.ContextSpecific, 6);
        if (certificate.Extensions[SubjectAlternativeName] is not { } extension)
        {
            return null;
        }

        try
        {
            AsnReader names = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence();
            while (names.HasData)
            {
                if (names.PeekTag().HasSameClassAndValue(uriTag))
                {
                    return names.ReadCharacterString(UniversalTagNumber.IA5String, uriTag);
                }

                names.ReadEncodedValue();
            }
        }
        catch (AsnContentException)
        {
            // Not a valid extension: no URI.
        }

        return null;
    }

    // Trusted itself, or signed by a chain of issuers of which one is trusted.
    private bool IsTrusted(X509Certificate2 certificate)
    {
        List<X509Certificate2> trusted = Load(_trusted);
        List<X509Certificate2> issuers = Load(_issuers);
        try
        {
            if (trusted.Any(one => one.RawDataMemory.Span.SequenceEqual(certificate.RawDataMemory.Span)))
            {
                return true;
            }

            X509Certificate2[] known = [.. trusted, .. issuers];
            using var chain = new X509Chain();
            chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
            chain.ChainPolicy.VerificationTime = _time.GetUtcNow().UtcDateTime;
            chain.ChainPolicy.CustomTrustStore.AddRange(known);
            chain.ChainPolicy.ExtraStore.AddRange(known);
            return chain.Build(certificate)
                && chain.ChainElements.Skip(1).Any(element =>
                    trusted.Any(one => one.RawDataMemory.Span.SequenceEqual(element.Certificate.RawDataMemory.Span)));
        }
        finally
        {
            trusted.ForEach(static one => one.Dispose());
            issuers.ForEach(static one => one.Dispose());
        }
    }

    private static List<X509Certificate2> Load(string folder)
    {
        List<X509Certificate2> found = [];
        foreach (string file in Directory.EnumerateFiles(folder))
        {
            if (!Extensions.Contains(Path.GetExtension(file), StringComparer.OrdinalIgnoreCase))
            {
                continue;
            }

            try
            {
                found.Add(X509CertificateLoader.LoadCertificateFromFile(file));
            }
            catch (CryptographicException)
            {
                // Not a certificate: nothing that it could vouch for.
            }
        }

        return found;
    }

    // A stranger can send any number of certificates: the folder does not grow without bound.
    private void Reject(X509Certificate2 certificate)
    {
        try
        {
            string file = Path.Combine(_rejected, $"{certificate.Thumbprint}.der");
            if (!File.Exists(file) && Directory.EnumerateFiles(_rejected).Take(MaxRejected).Count() < MaxRejected)
            {
                File.WriteAllBytes(file, certificate.RawData);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The peer is refused all the same.
        }
    }
}
