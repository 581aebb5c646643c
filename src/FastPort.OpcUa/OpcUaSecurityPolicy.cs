namespace FastPort.OpcUa;

/// <summary>The security policies of this library (OPC 10000-7, 6.6).</summary>
public enum OpcUaSecurityPolicy
{
    /// <summary>No security: anyone on the path can read and change all traffic.</summary>
    None,

    /// <summary>RSA with SHA-256, AES-256.</summary>
    Basic256Sha256,

    /// <summary>RSA with SHA-256, AES-128.</summary>
    Aes128Sha256RsaOaep,

    /// <summary>RSA-PSS with SHA-256, AES-256.</summary>
    Aes256Sha256RsaPss,
}
