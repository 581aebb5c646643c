using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The certificates that a peer has sent after its own (OPC 10000-6, 6.7.2.3). They end at the first unreadable one.</summary>
internal sealed class SentIssuers : IDisposable
{
    /// <param name="chain">Consecutive DER structures, the first of which is the peer's own.</param>
    /// <param name="max">Maximum number of further certificates.</param>
    public SentIssuers(ReadOnlySpan<byte> chain, int max)
    {
        for (bool isOwn = true; Certificates.Count < max && TryReadLength(chain, out int length); isOwn = false)
        {
            if (!isOwn && !TryAdd(chain[..length]))
            {
                break;
            }

            chain = chain[length..];
        }
    }

    public X509Certificate2Collection Certificates { get; } = [];

    public void Dispose()
    {
        foreach (X509Certificate2 one in Certificates)
        {
            one.Dispose();
        }
    }

    private static bool TryReadLength(ReadOnlySpan<byte> chain, out int length)
    {
        bool isRead = AsnDecoder.TryReadEncodedValue(chain, AsnEncodingRules.DER, out _, out int offset, out int content, out _);
        length = offset + content;
        return isRead;
    }

    private bool TryAdd(ReadOnlySpan<byte> certificate)
    {
        try
        {
            Certificates.Add(X509CertificateLoader.LoadCertificate(certificate));
            return true;
        }
        catch (CryptographicException)
        {
            return false;
        }
    }
}
