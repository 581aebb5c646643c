using System.Formats.Asn1;
using System.Numerics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The certificates that an authority has revoked (RFC 5280, section 5). Immutable.</summary>
internal sealed class RevocationList
{
    private readonly byte[] _signed;
    private readonly byte[] _issuer;
    private readonly string _algorithm;
    private readonly byte[] _signature;
    private readonly HashSet<BigInteger> _serials;

    private RevocationList(
        byte[] signed, byte[] issuer, string algorithm, byte[] signature, HashSet<BigInteger> serials, DateTimeOffset until)
    {
        (_signed, _issuer, _algorithm, _signature, _serials, Until) = (signed, issuer, algorithm, signature, serials, until);
    }

    /// <summary>
    /// When the authority's next list is due: from then on, there may be more revocations than in this list, which stays valid.
    /// </summary>
    public DateTimeOffset Until { get; }

    /// <summary>Reads a list in DER or PEM; null if it is not a list, or has an unknown rule.</summary>
    public static RevocationList? TryRead(byte[] file)
    {
        try
        {
            string text = System.Text.Encoding.ASCII.GetString(file);
            byte[] der = PemEncoding.TryFind(text, out PemFields pem) && text[pem.Label] == "X509 CRL"
                ? Convert.FromBase64String(text[pem.Base64Data])
                : file;
            AsnReader outer = new AsnReader(der, AsnEncodingRules.DER).ReadSequence();
            byte[] signed = outer.ReadEncodedValue().ToArray();
            string algorithm = outer.ReadSequence().ReadObjectIdentifier();
            byte[] signature = outer.ReadBitString(out _);
            return ReadContent(new AsnReader(signed, AsnEncodingRules.DER).ReadSequence(), signed, algorithm, signature);
        }
        catch (Exception e) when (e is AsnContentException or FormatException)
        {
            return null;
        }
    }

    /// <summary>Whether the list is this authority's, signed by its key.</summary>
    public bool IsOf(X509Certificate2 authority)
    {
        if (!authority.SubjectName.RawData.AsSpan().SequenceEqual(_issuer))
        {
            return false;
        }

        if (FindHash() is not { } hash)
        {
            return false;
        }

        using RSA? rsa = CertificateStore.TryGetKey(authority);
        using ECDsa? ecdsa = authority.GetECDsaPublicKey();
        return rsa?.VerifyData(_signed, _signature, hash, RSASignaturePadding.Pkcs1)
            ?? ecdsa?.VerifyData(_signed, _signature, hash, DSASignatureFormat.Rfc3279DerSequence)
            ?? false;
    }

    public bool Revokes(X509Certificate2 certificate) =>
        _serials.Contains(new BigInteger(certificate.SerialNumberBytes.Span, isBigEndian: true));

    private static RevocationList? ReadContent(AsnReader content, byte[] signed, string algorithm, byte[] signature)
    {
        if (content.PeekTag().HasSameClassAndValue(Asn1Tag.Integer))
        {
            content.ReadInteger();
        }

        content.ReadEncodedValue();
        byte[] issuer = content.ReadEncodedValue().ToArray();
        ReadTime(content);
        DateTimeOffset until = content.HasData && IsTime(content.PeekTag()) ? ReadTime(content) : DateTimeOffset.MaxValue;
        HashSet<BigInteger> serials = [];
        if (content.HasData && content.PeekTag().HasSameClassAndValue(Asn1Tag.Sequence))
        {
            for (AsnReader entries = content.ReadSequence(); entries.HasData;)
            {
                AsnReader entry = entries.ReadSequence();
                serials.Add(entry.ReadInteger());
                ReadTime(entry);
                if (entry.HasData && HasCritical(entry.ReadSequence()))
                {
                    return null;
                }
            }
        }

        // A critical rule, such as one that limits the list to a part of the certificates, is not supported here.
        var extensions = new Asn1Tag(TagClass.ContextSpecific, 0, isConstructed: true);
        return content.HasData && HasCritical(content.ReadSequence(extensions).ReadSequence())
            ? null
            : new RevocationList(signed, issuer, algorithm, signature, serials, until);
    }

    private static bool HasCritical(AsnReader extensions)
    {
        while (extensions.HasData)
        {
            AsnReader extension = extensions.ReadSequence();
            extension.ReadObjectIdentifier();
            if (extension.PeekTag().HasSameClassAndValue(Asn1Tag.Boolean) && extension.ReadBoolean())
            {
                return true;
            }
        }

        return false;
    }

    private static bool IsTime(Asn1Tag tag) =>
        tag.HasSameClassAndValue(Asn1Tag.UtcTime) || tag.HasSameClassAndValue(Asn1Tag.GeneralizedTime);

    private static DateTimeOffset ReadTime(AsnReader reader) =>
        reader.PeekTag().HasSameClassAndValue(Asn1Tag.UtcTime) ? reader.ReadUtcTime() : reader.ReadGeneralizedTime();

    // RSA with PKCS #1 and ECDSA, each with SHA-2.
    private HashAlgorithmName? FindHash() => _algorithm switch
    {
        "1.2.840.113549.1.1.11" or "1.2.840.10045.4.3.2" => HashAlgorithmName.SHA256,
        "1.2.840.113549.1.1.12" or "1.2.840.10045.4.3.3" => HashAlgorithmName.SHA384,
        "1.2.840.113549.1.1.13" or "1.2.840.10045.4.3.4" => HashAlgorithmName.SHA512,
        _ => null,
    };
}
