using System.Security.Cryptography;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>A security policy: the algorithms of a channel and their sizes (OPC 10000-7, 6.6). Immutable.</summary>
internal sealed class SecurityPolicy
{
    public const string Prefix = "http://opcfoundation.org/UA/SecurityPolicy#";

    private SecurityPolicy(string name) => Uri = Prefix + name;

    public static SecurityPolicy None { get; } = new(nameof(None));

    public static SecurityPolicy Basic256Sha256 { get; } = new(nameof(Basic256Sha256))
    {
        EncryptionKeyBytes = 32,
        Signature = RSASignaturePadding.Pkcs1,
        SignatureUri = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        Encryption = RSAEncryptionPadding.OaepSHA1,
        EncryptionUri = "http://www.w3.org/2001/04/xmlenc#rsa-oaep",
        EncryptionOverheadBytes = 42,
    };

    public static SecurityPolicy Aes128Sha256RsaOaep { get; } = new("Aes128_Sha256_RsaOaep")
    {
        EncryptionKeyBytes = 16,
        Signature = RSASignaturePadding.Pkcs1,
        SignatureUri = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        Encryption = RSAEncryptionPadding.OaepSHA1,
        EncryptionUri = "http://www.w3.org/2001/04/xmlenc#rsa-oaep",
        EncryptionOverheadBytes = 42,
    };

    public static SecurityPolicy Aes256Sha256RsaPss { get; } = new("Aes256_Sha256_RsaPss")
    {
        EncryptionKeyBytes = 32,
        Signature = RSASignaturePadding.Pss,
        SignatureUri = "http://opcfoundation.org/UA/security/rsa-pss-sha2-256",
        Encryption = RSAEncryptionPadding.OaepSHA256,
        EncryptionUri = "http://opcfoundation.org/UA/security/rsa-oaep-sha2-256",
        EncryptionOverheadBytes = 66,
    };

    private static readonly SecurityPolicy[] All = [None, Basic256Sha256, Aes128Sha256RsaOaep, Aes256Sha256RsaPss];

    public string Uri { get; }

    public bool IsNone => this == None;

    /// <summary>What options call the policy.</summary>
    public OpcUaSecurityPolicy Option => (OpcUaSecurityPolicy)Array.IndexOf(All, this);

    /// <summary>Bytes of the AES key; 0 for no policy.</summary>
    public int EncryptionKeyBytes { get; private init; }

    public RSASignaturePadding Signature { get; private init; } = RSASignaturePadding.Pkcs1;

    public string? SignatureUri { get; private init; }

    public RSAEncryptionPadding Encryption { get; private init; } = RSAEncryptionPadding.OaepSHA1;

    public string? EncryptionUri { get; private init; }

    /// <summary>Bytes of an encrypted block that are not plain text.</summary>
    public int EncryptionOverheadBytes { get; private init; }

    public static SecurityPolicy Of(OpcUaSecurityPolicy policy) => All[(int)policy];

    /// <summary>A policy that encrypts with this algorithm; null if unknown.</summary>
    public static SecurityPolicy? FindEncryption(string? algorithmUri) =>
        algorithmUri is null ? null : Array.Find(All, policy => policy.EncryptionUri == algorithmUri);

    /// <summary>The policy of a URI; null if unknown.</summary>
    public static SecurityPolicy? Find(string? uri) => Array.Find(All, policy => policy.Uri == uri);
}
