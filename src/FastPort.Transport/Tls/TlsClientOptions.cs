using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Configuration;

namespace FastPort;

/// <summary>
/// How a client checks the server at a <c>tls://</c> endpoint and authenticates itself; section <c>Tls</c> of the client's section.
/// </summary>
public sealed class TlsClientOptions
{
    private const string PinPrefix = "sha256/";

    /// <summary>
    /// A PEM file with the authorities that may have signed the server's certificate; no others are trusted. Reloaded when it changes.
    /// Defaults to empty: the system's authorities.
    /// </summary>
    public string AuthorityFile { get; set; } = string.Empty;

    /// <summary>The name that the server's certificate must have. Defaults to empty: the endpoint's host.</summary>
    public string ServerName { get; set; } = string.Empty;

    /// <summary>
    /// The server's public key, as <c>sha256/</c> and the base64 SHA-256 hash of its SubjectPublicKeyInfo. A server with this key is
    /// accepted regardless of the issuer and the name of its certificate; a server with another key is refused. Defaults to empty: none.
    /// </summary>
    public string Pin { get; set; } = string.Empty;

    /// <summary>This client's certificate: a PEM file or a PFX file (<c>.pfx</c>, <c>.p12</c>). Defaults to empty: none.</summary>
    public string CertificateFile { get; set; } = string.Empty;

    /// <summary>The private key of <see cref="CertificateFile"/>, as PEM. Defaults to empty: the key is in the same file.</summary>
    public string KeyFile { get; set; } = string.Empty;

    /// <summary>A file with the password of the PFX file or of the encrypted key. Defaults to empty: no password.</summary>
    public string PasswordFile { get; set; } = string.Empty;

    /// <summary>Whether the server's certificate is checked for revocation. Defaults to <see cref="X509RevocationMode.NoCheck"/>.</summary>
    public X509RevocationMode Revocation { get; set; } = X509RevocationMode.NoCheck;

    /// <summary>Whether the server may use TLS 1.2. Defaults to false: TLS 1.3 only.</summary>
    public bool AllowTls12 { get; set; }

    /// <summary>The hash of <see cref="Pin"/>; null if there is none.</summary>
    internal byte[]? PinnedHash => TryReadPin(Pin, out byte[]? hash) ? hash : null;

    /// <summary>Whether trust or a certificate is configured.</summary>
    internal bool IsGiven => AuthorityFile.Length + ServerName.Length + Pin.Length + CertificateFile.Length != 0;

    internal void Describe(OptionSection section)
    {
        AuthorityFile = section.Text(nameof(AuthorityFile), AuthorityFile, static _ => true, string.Empty);
        ServerName = section.Text(nameof(ServerName), ServerName, static _ => true, string.Empty);
        Pin = section.Text(
            nameof(Pin), Pin, static pin => TryReadPin(pin!, out _), $"write {PinPrefix} and the base64 SHA-256 hash of the public key");
        CertificateFile = section.Text(nameof(CertificateFile), CertificateFile, static _ => true, string.Empty);
        KeyFile = section.Text(nameof(KeyFile), KeyFile, static _ => true, string.Empty);
        PasswordFile = section.Text(nameof(PasswordFile), PasswordFile, static _ => true, string.Empty);
        Revocation = section.Choice(nameof(Revocation), Revocation);
        AllowTls12 = section.Flag(nameof(AllowTls12), AllowTls12);
        if (section.ChecksTogether && KeyFile.Length != 0 && CertificateFile.Length == 0)
        {
            section.Add(nameof(KeyFile), "there is no CertificateFile; name the certificate of this key.");
        }
    }

    /// <summary>The pin of a certificate's key.</summary>
    internal static string PinOf(X509Certificate2 certificate) =>
        PinPrefix + Convert.ToBase64String(SHA256.HashData(certificate.PublicKey.ExportSubjectPublicKeyInfo()));

    private static bool TryReadPin(string pin, out byte[]? hash)
    {
        hash = null;
        if (pin.Length == 0)
        {
            return true;
        }

        byte[] bytes = new byte[SHA256.HashSizeInBytes];
        bool read = pin.StartsWith(PinPrefix, StringComparison.Ordinal)
            && Convert.TryFromBase64String(pin[PinPrefix.Length..], bytes, out int length)
            && length == bytes.Length;
        hash = read ? bytes : null;
        return read;
    }
}
