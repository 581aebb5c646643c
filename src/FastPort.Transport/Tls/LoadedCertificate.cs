using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>A certificate as it was read.</summary>
/// <param name="Certificate">The certificate, with its private key.</param>
/// <param name="Chain">The certificates that link it to its authority; without the certificate itself.</param>
internal sealed record LoadedCertificate(X509Certificate2 Certificate, X509Certificate2Collection Chain)
{
    /// <summary>Whether the other one has the same certificates. Then it has the same key, too.</summary>
    public bool IsSameAs(LoadedCertificate other) =>
        Certificate.RawDataMemory.Span.SequenceEqual(other.Certificate.RawDataMemory.Span)
        && Chain.Count == other.Chain.Count
        && Chain.Zip(other.Chain).All(static pair => pair.First.RawDataMemory.Span.SequenceEqual(pair.Second.RawDataMemory.Span));

    /// <summary>Releases everything; only for certificates that no handshake has used.</summary>
    public void Release()
    {
        Certificate.Dispose();
        foreach (X509Certificate2 certificate in Chain)
        {
            certificate.Dispose();
        }
    }
}
