using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>Checks the certificate of one peer in its handshake, and keeps a description of the problem. Used by one handshake.</summary>
/// <param name="isRequired">Whether the peer must present a certificate.</param>
/// <param name="pinnedHash">
/// SHA-256 of the public key that the peer must have, regardless of who signed it; null for the ordinary checks.
/// </param>
internal sealed class PeerCheck(bool isRequired, byte[]? pinnedHash = null)
{
    /// <summary>What is wrong with the peer's certificate; null if nothing is, or if it has not been checked.</summary>
    public string? Problem { get; private set; }

    /// <summary>The rules by which the runtime builds the peer's chain.</summary>
    /// <param name="authorities">The only trusted authorities; null for the system's.</param>
    /// <param name="revocation">Whether revocation is checked.</param>
    /// <param name="isClient">Whether the peer is a client.</param>
    public static X509ChainPolicy Policy(X509Certificate2Collection? authorities, X509RevocationMode revocation, bool isClient)
    {
        var policy = new X509ChainPolicy
        {
            RevocationMode = revocation,
            RevocationFlag = X509RevocationFlag.ExcludeRoot,

            // A peer must not make this process fetch URLs in its certificate.
            DisableCertificateDownloads = true,

            // Other handshakes wait while an authority's server is asked for its revocation list.
            UrlRetrievalTimeout = TimeSpan.FromSeconds(3),
        };
        policy.ApplicationPolicy.Add(new Oid(isClient ? "1.3.6.1.5.5.7.3.2" : "1.3.6.1.5.5.7.3.1"));
        if (authorities is not null)
        {
            policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            policy.CustomTrustStore.AddRange(authorities);
        }

        return policy;
    }

    /// <summary>The callback of <see cref="SslStream"/>.</summary>
    public bool Check(object sender, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is not X509Certificate2 peer)
        {
            Problem = isRequired ? "it presented none, but one is required" : null;
        }
        else if (pinnedHash is not null)
        {
            byte[] hash = SHA256.HashData(peer.PublicKey.ExportSubjectPublicKeyInfo());
            Problem = CryptographicOperations.FixedTimeEquals(hash, pinnedHash)
                ? null
                : $"its key is {TlsClientOptions.PinOf(peer)}, not the pinned one; if it was renewed, set Tls:Pin to this";
        }
        else
        {
            Problem = errors == SslPolicyErrors.None ? null : Describe(peer, chain, errors);
        }

        return Problem is null;
    }

    private static string Describe(X509Certificate2 peer, X509Chain? chain, SslPolicyErrors errors)
    {
        if ((errors & SslPolicyErrors.RemoteCertificateChainErrors) != 0 && chain is not null)
        {
            X509ChainStatusFlags flags = chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, one) => all | one.Status);
            return $"'{peer.Subject}' {Describe(peer, flags)}";
        }

        string names = string.Join(", ", NamesOf(peer));
        return $"'{peer.Subject}' is for {(names.Length == 0 ? "no name" : names)}, not for the requested name; "
            + "use one of its names, or set Tls:ServerName";
    }

    private static IEnumerable<string> NamesOf(X509Certificate2 peer) =>
    [
        .. ServerCertificate.ReadNames(peer),
        .. peer.Extensions.OfType<X509SubjectAlternativeNameExtension>()
            .SelectMany(static names => names.EnumerateIPAddresses())
            .Select(static address => $"{address}"),
    ];

    private static string Describe(X509Certificate2 peer, X509ChainStatusFlags flags) => flags switch
    {
        _ when Has(flags, X509ChainStatusFlags.NotTimeValid) && DateTime.Now > peer.NotAfter =>
            $"expired on {peer.NotAfter.ToUniversalTime():u}; renew it",
        _ when Has(flags, X509ChainStatusFlags.NotTimeValid) && DateTime.Now < peer.NotBefore =>
            $"is not valid before {peer.NotBefore.ToUniversalTime():u}; check the clocks",
        _ when Has(flags, X509ChainStatusFlags.NotTimeValid) => "was signed by an authority that is not valid now; renew the authority",
        _ when Has(flags, X509ChainStatusFlags.Revoked) => "was revoked",
        _ when Has(flags, X509ChainStatusFlags.NotValidForUsage) => "is not for this use (extended key usage); use another certificate",
        _ when Has(flags, X509ChainStatusFlags.UntrustedRoot) || Has(flags, X509ChainStatusFlags.PartialChain) =>
            $"was signed by '{peer.Issuer}', which is not trusted here; name the authority's file, or send the intermediate certificates",
        _ when Has(flags, X509ChainStatusFlags.RevocationStatusUnknown) || Has(flags, X509ChainStatusFlags.OfflineRevocation) =>
            "could not be checked for revocation; make its revocation list reachable, or set Tls:Revocation to NoCheck",
        _ => $"is not valid ({flags})",
    };

    private static bool Has(X509ChainStatusFlags flags, X509ChainStatusFlags one) => (flags & one) != 0;
}
