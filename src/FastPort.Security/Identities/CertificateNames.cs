using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Security.Identities;

/// <summary>
/// Finds names in certificates. <see cref="X509Certificate2.GetNameInfo"/> does not do: without a name of the requested kind, it returns a
/// name of another kind, which may identify a different user.
/// </summary>
internal static class CertificateNames
{
    private const string CommonNameType = "2.5.4.3";
    private const string AlternativeNamesType = "2.5.29.17";

    // The kinds of GeneralName (RFC 5280, 4.2.1.6).
    private static readonly Asn1Tag Email = new(TagClass.ContextSpecific, 1);
    private static readonly Asn1Tag Dns = new(TagClass.ContextSpecific, 2);
    private static readonly Asn1Tag Uri = new(TagClass.ContextSpecific, 6);

    /// <summary>The first name of a kind, in the order of the certificate; null if there is none, or if it cannot be read.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="kind">The kind.</param>
    public static string? Find(X509Certificate2 certificate, CertificateName kind)
    {
        try
        {
            string? name = kind switch
            {
                CertificateName.CommonName => CommonName(certificate.SubjectName),
                CertificateName.DnsName => Alternative(certificate, Dns),
                CertificateName.Email => Alternative(certificate, Email),
                CertificateName.Uri => Alternative(certificate, Uri),
                CertificateName.Subject => certificate.Subject,
                _ => null,
            };
            return string.IsNullOrEmpty(name) ? null : name;
        }
        catch (Exception e) when (e is CryptographicException or AsnContentException)
        {
            return null;
        }
    }

    /// <summary>A kind in words, for messages.</summary>
    public static string Describe(CertificateName kind) => kind switch
    {
        CertificateName.CommonName => "common name (CN)",
        CertificateName.DnsName => "DNS name in its subject alternative names",
        CertificateName.Email => "e-mail address in its subject alternative names",
        CertificateName.Uri => "URI in its subject alternative names",
        _ => "subject",
    };

    // A common name in a multi-valued part of the subject has no order among the attributes, and does not count.
    private static string? CommonName(X500DistinguishedName subject) => subject.EnumerateRelativeDistinguishedNames(reversed: false)
        .FirstOrDefault(static part => !part.HasMultipleElements && part.GetSingleElementType().Value == CommonNameType)
        ?.GetSingleElementValue();

    private static string? Alternative(X509Certificate2 certificate, Asn1Tag kind)
    {
        if (certificate.Extensions[AlternativeNamesType] is not { } extension)
        {
            return null;
        }

        AsnReader names = new AsnReader(extension.RawData, AsnEncodingRules.DER).ReadSequence();
        while (names.HasData)
        {
            if (names.PeekTag().HasSameClassAndValue(kind))
            {
                return names.ReadCharacterString(UniversalTagNumber.IA5String, kind);
            }

            names.ReadEncodedValue();
        }

        return null;
    }
}
