using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using FastPort.Security.Files;
using FastPort.Tls;

namespace FastPort.Security.Identities;

/// <summary>
/// Checks certificates that no TLS handshake has verified, by the rules of the server's <c>tls://</c> endpoints: the chain leads to one of
/// the server's authorities for clients, and the certificate is for clients if it restricts its use. Thread-safe.
/// </summary>
/// <param name="authorities">The authorities, with the intermediate ones; disposed with this object.</param>
/// <param name="revocation">Whether revocation is checked.</param>
/// <param name="kind">The name in a certificate that identifies the user.</param>
/// <param name="time">Source of time.</param>
internal sealed class CertificateChains(
    WatchedFile<X509Certificate2Collection> authorities,
    X509RevocationMode revocation,
    CertificateName kind,
    TimeProvider time) : IDisposable
{
    /// <summary>Size of a file of authorities in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 16 * 1024 * 1024;

    private const string ClientUse = "1.3.6.1.5.5.7.3.2";

    private readonly VerificationQueue _queue = new();

    /// <summary>The name in a certificate that identifies the user.</summary>
    public CertificateName Kind => kind;

    /// <summary>Reads a file of authorities.</summary>
    /// <param name="pem">The text.</param>
    /// <param name="problems">Receives what is wrong.</param>
    public static X509Certificate2Collection? Read(byte[] pem, ICollection<string> problems)
    {
        X509Certificate2Collection all = [];
        PemText text = new(Encoding.UTF8.GetString(pem));
        if (text.Damage is not null)
        {
            problems.Add($"Its {text.Damage}. Copy it again.");
            return null;
        }

        foreach (PemBlock block in text.Certificates)
        {
            try
            {
                all.Add(X509Certificate2.CreateFromPem(block.Text));
            }
            catch (CryptographicException e)
            {
                problems.Add($"The certificate in its block {block.Number} is damaged: {e.Message}");
                return null;
            }
        }

        if (all.Count == 0)
        {
            problems.Add("It contains no certificate; put the authorities' certificates in it, as PEM.");
            return null;
        }

        return all;
    }

    /// <summary>
    /// The identity of a certificate's owner, or the reason why it has none. The certificate is not used when this has completed.
    /// </summary>
    /// <param name="certificate">The certificate, whose key the peer has.</param>
    /// <param name="peer">The peer's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    public async ValueTask<AuthenticationResult> AuthenticateAsync(
        X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken)
    {
        string? problem = await _queue.RunAsync(peer, () => Task.FromResult(WhatIsWrong(certificate)), cancellationToken)
            .ConfigureAwait(false);
        return problem is null
            ? CertificateAuthentication.Authenticate(certificate, kind)
            : AuthenticationResult.Refuse($"The client certificate is not accepted: {problem}.");
    }

    public void Dispose() => authorities.Dispose();

    private string? WhatIsWrong(X509Certificate2 certificate)
    {
        using X509Chain chain = new();
        X509ChainPolicy policy = chain.ChainPolicy;
        policy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        policy.CustomTrustStore.AddRange(authorities.Current);
        policy.RevocationMode = revocation;
        policy.RevocationFlag = X509RevocationFlag.ExcludeRoot;
        policy.VerificationTime = time.GetUtcNow().UtcDateTime;

        // A peer must not make this process fetch URLs in its certificate; others wait while a revocation list is fetched.
        policy.DisableCertificateDownloads = true;
        policy.UrlRetrievalTimeout = TimeSpan.FromSeconds(3);
        policy.ApplicationPolicy.Add(new Oid(ClientUse));
        return chain.Build(certificate)
            ? null
            : $"{chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, static (all, one) => all | one.Status)}";
    }
}
