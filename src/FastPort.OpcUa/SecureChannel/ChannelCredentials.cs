using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The security data of one end of a channel: the policy and both certificates. Owns the peer's certificate. Thread-safe.
/// </summary>
internal sealed class ChannelCredentials : IDisposable
{
    /// <summary>Bytes of a nonce of the channel (OPC 10000-7, the three RSA policies).</summary>
    public const int NonceBytes = 32;

    private readonly ApplicationCertificate _own;
    private readonly X509Certificate2 _peer;
    private readonly RSA _peerKey;
    private readonly Func<X509Certificate2, StatusCode>? _validate;

    /// <param name="policy">The policy, not None.</param>
    /// <param name="own">This side's certificate.</param>
    /// <param name="peer">The peer's certificate, which has an RSA key and was checked.</param>
    /// <param name="validate">Checks it again. Defaults to no check.</param>
    public ChannelCredentials(
        SecurityPolicy policy, ApplicationCertificate own, X509Certificate2 peer, Func<X509Certificate2, StatusCode>? validate = null)
    {
        _validate = validate;
        Policy = policy;
        _own = own;
        _peer = peer;
        _peerKey = CertificateStore.TryGetKey(peer)
            ?? throw new CryptographicException($"The certificate '{peer.Subject}' has no RSA key.");
        PeerThumbprint = peer.GetCertHash();
        Asymmetric = new AsymmetricSecurity(policy, own.PrivateKey, _peerKey);
    }

    public SecurityPolicy Policy { get; }

    /// <summary>This side's certificate in DER.</summary>
    public byte[] OwnCertificate => _own.Der;

    /// <summary>The application URI in this side's certificate; null if there is none.</summary>
    public string? OwnApplicationUri => _own.ApplicationUri;

    /// <summary>SHA-1 of this side's certificate.</summary>
    public byte[] OwnThumbprint => _own.Thumbprint;

    /// <summary>The peer's certificate.</summary>
    public X509Certificate2 Peer => _peer;

    /// <summary>The peer's certificate in DER, without its issuers.</summary>
    public ReadOnlyMemory<byte> PeerCertificate => _peer.RawDataMemory;

    /// <summary>SHA-1 of the peer's certificate.</summary>
    public byte[] PeerThumbprint { get; }

    /// <summary>The application URI in the peer's certificate; null if there is none.</summary>
    public string? PeerApplicationUri => CertificateStore.ApplicationUriOf(_peer);

    /// <summary>Protects OpenSecureChannel messages.</summary>
    public ChunkSecurity Asymmetric { get; }

    public static byte[] CreateNonce() => RandomNumberGenerator.GetBytes(NonceBytes);

    /// <summary>The protection by a new token (OPC 10000-6, 6.7.5).</summary>
    /// <param name="mode">Sign, or SignAndEncrypt.</param>
    /// <param name="ownNonce">This side's nonce.</param>
    /// <param name="peerNonce">The peer's nonce.</param>
    public ChunkSecurity Derive(MessageSecurityMode mode, ReadOnlySpan<byte> ownNonce, ReadOnlySpan<byte> peerNonce) =>
        new SymmetricSecurity(
        mode,
        ChannelKeys.Derive(peerNonce, ownNonce, Policy.EncryptionKeyBytes),
        ChannelKeys.Derive(ownNonce, peerNonce, Policy.EncryptionKeyBytes));

    /// <summary>Signs the peer's certificate and nonce: proof that this side has its key (OPC 10000-4, 5.7.2 and 5.7.3).</summary>
    public byte[] SignPeer(ReadOnlySpan<byte> peerNonce) =>
        _own.PrivateKey.SignData([.. PeerCertificate.Span, .. peerNonce], HashAlgorithmName.SHA256, Policy.Signature);

    /// <summary>Whether the peer has signed this side's certificate and nonce.</summary>
    public bool VerifyPeer(ReadOnlySpan<byte> ownNonce, ReadOnlySpan<byte> signature) =>
        _peerKey.VerifyData([.. OwnCertificate, .. ownNonce], signature, HashAlgorithmName.SHA256, Policy.Signature);

    /// <summary>
    /// Checks the peer's certificate again, for each renewal (OPC 10000-4, 6.1.7): it may have expired, or no longer be trusted. Reads
    /// files.
    /// </summary>
    public StatusCode ValidatePeer() => _validate?.Invoke(_peer) ?? StatusCodes.Good;

    /// <summary>Whether a chain of certificates begins with the peer's.</summary>
    public bool IsPeer(ReadOnlySpan<byte> chain) => chain.StartsWith(PeerCertificate.Span);

    public void Dispose()
    {
        _peerKey.Dispose();
        _peer.Dispose();
    }
}
