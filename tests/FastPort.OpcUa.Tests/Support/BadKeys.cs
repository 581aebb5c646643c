using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>Certificates that can be read, with keys that cannot be used.</summary>
internal static class BadKeys
{
    /// <summary>Says that it has an RSA key, whose bytes are none.</summary>
    public static byte[] Unreadable() => Certify([1, 2, 3]);

    /// <summary>Has an RSA key that can be read and encrypts nothing: its exponent is larger than its modulus.</summary>
    public static byte[] Unusable()
    {
        using var key = RSA.Create(2048);
        byte[] modulus = key.ExportParameters(includePrivateParameters: false).Modulus!;
        var writer = new AsnWriter(AsnEncodingRules.DER);
        using (writer.PushSequence())
        {
            writer.WriteIntegerUnsigned(modulus);
            writer.WriteIntegerUnsigned([0xFF, .. modulus]);
        }

        return Certify(writer.Encode());
    }

    private static byte[] Certify(byte[] key)
    {
        const string Rsa = "1.2.840.113549.1.1.1";
        using var signer = RSA.Create(2048);
        var name = new X500DistinguishedName("CN=bad");
        byte[] noParameters = [5, 0];
        var request = new CertificateRequest(
            name, new PublicKey(new Oid(Rsa), new AsnEncodedData(noParameters), new AsnEncodedData(key)), HashAlgorithmName.SHA256);
        using X509Certificate2 made = request.Create(
            name,
            X509SignatureGenerator.CreateForRSA(signer, RSASignaturePadding.Pkcs1),
            DateTimeOffset.UtcNow.AddDays(-1),
            DateTimeOffset.UtcNow.AddDays(1),
            [1]);
        return made.RawData;
    }
}
