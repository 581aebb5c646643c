using System.Collections.Frozen;
using System.Globalization;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace FastPort.Tls;

/// <summary>All certificates of a server at a time. Immutable; safe from any thread.</summary>
internal sealed class CertificateSet
{
    private static readonly IdnMapping Idn = new();

    private readonly FrozenDictionary<string, ServerCertificate>.AlternateLookup<ReadOnlySpan<char>> _exact;

    // By what follows the star.
    private readonly FrozenDictionary<string, ServerCertificate>.AlternateLookup<ReadOnlySpan<char>> _wildcards;

    /// <summary>Takes the certificates.</summary>
    /// <param name="certificates">At least one. The first is for peers that request no name, or a name that none of them has.</param>
    /// <param name="clientAuthorities">The authorities whose certificates peers may present; null for the system's authorities.</param>
    public CertificateSet(IReadOnlyList<ServerCertificate> certificates, X509Certificate2Collection? clientAuthorities)
    {
        Certificates = certificates;
        ClientAuthorities = clientAuthorities;
        Dictionary<string, ServerCertificate> exact = new(StringComparer.OrdinalIgnoreCase);
        Dictionary<string, ServerCertificate> wildcards = new(StringComparer.OrdinalIgnoreCase);
        foreach (ServerCertificate certificate in certificates)
        {
            foreach (string name in certificate.Names)
            {
                // Of two with the same name, the first.
                _ = name.StartsWith("*.", StringComparison.Ordinal)
                    ? wildcards.TryAdd(name[1..], certificate)
                    : exact.TryAdd(name, certificate);
            }
        }

        _exact = exact.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase).GetAlternateLookup<ReadOnlySpan<char>>();
        _wildcards = wildcards.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase).GetAlternateLookup<ReadOnlySpan<char>>();
    }

    /// <summary>Each certificate; the first is for names that none of them has.</summary>
    public IReadOnlyList<ServerCertificate> Certificates { get; }

    /// <summary>The authorities whose certificates peers may present; null for the system's authorities.</summary>
    public X509Certificate2Collection? ClientAuthorities { get; }

    /// <summary>The certificate for a peer that requests this name.</summary>
    public ServerCertificate Select(string? serverName)
    {
        ReadOnlySpan<char> name = ToAscii(serverName ?? string.Empty);
        if (_exact.TryGetValue(name, out ServerCertificate? certificate))
        {
            return certificate;
        }

        // A star stands for one label, which is not empty.
        int dot = name.IndexOf('.');
        return dot > 0 && _wildcards.TryGetValue(name[dot..], out certificate) ? certificate : Certificates[0];
    }

    /// <summary>Whether both accept the same authorities.</summary>
    public bool HasSameAuthorities(CertificateSet other) =>
        (ClientAuthorities ?? []).Select(static authority => authority.Thumbprint)
        .SequenceEqual((other.ClientAuthorities ?? []).Select(static authority => authority.Thumbprint));

    // .NET decodes the names of peers (xn--); certificates have them encoded.
    private static string ToAscii(string name)
    {
        try
        {
            return Ascii.IsValid(name) ? name : Idn.GetAscii(name);
        }
        catch (ArgumentException)
        {
            // No name of a host.
            return string.Empty;
        }
    }
}
