using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tests.Support;

/// <summary>A certificate with its key.</summary>
/// <param name="certificate">The certificate, with its key.</param>
/// <param name="chain">The intermediate authorities above it, the nearest first.</param>
internal sealed class TestCertificate(X509Certificate2 certificate, IReadOnlyList<X509Certificate2> chain)
{
    // As few rounds as are allowed: tests guard no secrets.
    private static readonly PbeParameters Encryption = new(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, iterationCount: 1);

    public X509Certificate2 Certificate { get; } = certificate;

    public IReadOnlyList<X509Certificate2> Chain { get; } = chain;

    public string Thumbprint => Certificate.Thumbprint;

    /// <summary>The certificate and those above it, as PEM.</summary>
    public string ToPem() =>
        string.Concat(Chain.Prepend(Certificate).Select(static certificate => certificate.ExportCertificatePem() + "\n"));

    /// <summary>The key as PEM; encrypted if there is a password.</summary>
    public string ToKeyPem(string? password = null)
    {
        using ECDsa key = Certificate.GetECDsaPrivateKey()!;
        return (password is null ? key.ExportPkcs8PrivateKeyPem() : key.ExportEncryptedPkcs8PrivateKeyPem(password, Encryption)) + "\n";
    }

    /// <summary>Writes the certificate and those above it; the key, too, if asked for.</summary>
    public void WritePem(string path, bool withKey = false, string? password = null) =>
        File.WriteAllText(path, ToPem() + (withKey ? ToKeyPem(password) : string.Empty));

    /// <summary>Writes the key; encrypted if there is a password.</summary>
    public void WriteKey(string path, string? password = null) => File.WriteAllText(path, ToKeyPem(password));

    /// <summary>Writes certificate, key and the certificates above it.</summary>
    public void WritePfx(string path, string? password = null)
    {
        X509Certificate2Collection all = [Certificate, .. Chain];
        File.WriteAllBytes(path, all.Export(X509ContentType.Pkcs12, password)!);
    }
}
