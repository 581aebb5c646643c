using System.Security.Cryptography.X509Certificates;
using FastPort.Configuration;

namespace FastPort;

/// <summary>Whether a server asks its peers for a certificate.</summary>
public enum ClientCertificateMode
{
    /// <summary>The server asks for no certificate.</summary>
    None,

    /// <summary>A peer may present a certificate, which must then be valid.</summary>
    Optional,

    /// <summary>A peer without a valid certificate is refused.</summary>
    Required,
}

/// <summary>How a server encrypts its <c>tls://</c> endpoints; section <c>Tls</c> of the server's section.</summary>
public sealed class TlsServerOptions
{
    /// <summary>
    /// The certificate: a PEM file, followed by its intermediate certificates, or a PFX file (<c>.pfx</c>, <c>.p12</c>). Reloaded when it
    /// changes. Defaults to empty: none.
    /// </summary>
    public string CertificateFile { get; set; } = string.Empty;

    /// <summary>The private key of <see cref="CertificateFile"/>, as PEM. Defaults to empty: the key is in the same file.</summary>
    public string KeyFile { get; set; } = string.Empty;

    /// <summary>A file with the password of the PFX file or of the encrypted key. Defaults to empty: no password.</summary>
    public string PasswordFile { get; set; } = string.Empty;

    /// <summary>
    /// A folder of certificates, chosen by the server name that a peer asks for (SNI): <c>name.pem</c>, with its key in it or in
    /// <c>name.key</c>, or <c>name.pfx</c>. The names come from the certificates. A peer that asks for another name, or for none, gets
    /// <see cref="CertificateFile"/>, or the folder's first one. Defaults to empty: none.
    /// </summary>
    public string CertificateFolder { get; set; } = string.Empty;

    /// <summary>
    /// Whether to use ASP.NET Core's development certificate (<c>dotnet dev-certs https</c>), for <c>localhost</c> only. Defaults to false.
    /// </summary>
    public bool UseDevelopmentCertificate { get; set; }

    /// <summary>Whether peers are asked for a certificate. Defaults to <see cref="ClientCertificateMode.None"/>.</summary>
    public ClientCertificateMode ClientCertificates { get; set; }

    /// <summary>
    /// A PEM file with the authorities whose certificates peers may present; no others are accepted. Reloaded when it changes. Defaults to
    /// empty: the system's authorities.
    /// </summary>
    public string ClientAuthorityFile { get; set; } = string.Empty;

    /// <summary>Whether peers' certificates are checked for revocation. Defaults to <see cref="X509RevocationMode.NoCheck"/>.</summary>
    public X509RevocationMode Revocation { get; set; } = X509RevocationMode.NoCheck;

    /// <summary>Whether peers may use TLS 1.2. Defaults to false: TLS 1.3 only.</summary>
    public bool AllowTls12 { get; set; }

    /// <summary>
    /// Maximum number of handshakes that compute at the same time, 0 to 256; others wait. 0 for half of the cores, at least one, so that a
    /// flood of handshakes leaves CPU time for the sessions. Defaults to 0.
    /// </summary>
    public int MaxConcurrentHandshakes { get; set; }

    /// <summary><see cref="MaxConcurrentHandshakes"/> as a number, 1 or more.</summary>
    internal int HandshakesAtATime => MaxConcurrentHandshakes != 0 ? MaxConcurrentHandshakes : Math.Max(1, Environment.ProcessorCount / 2);

    /// <summary>Whether any certificate is configured.</summary>
    internal bool HasCertificate => CertificateFile.Length != 0 || CertificateFolder.Length != 0 || UseDevelopmentCertificate;

    internal void Describe(OptionSection section)
    {
        CertificateFile = section.Text(nameof(CertificateFile), CertificateFile, static _ => true, string.Empty);
        KeyFile = section.Text(nameof(KeyFile), KeyFile, static _ => true, string.Empty);
        PasswordFile = section.Text(nameof(PasswordFile), PasswordFile, static _ => true, string.Empty);
        CertificateFolder = section.Text(nameof(CertificateFolder), CertificateFolder, static _ => true, string.Empty);
        UseDevelopmentCertificate = section.Flag(nameof(UseDevelopmentCertificate), UseDevelopmentCertificate);
        ClientCertificates = section.Choice(nameof(ClientCertificates), ClientCertificates);
        ClientAuthorityFile = section.Text(nameof(ClientAuthorityFile), ClientAuthorityFile, static _ => true, string.Empty);
        Revocation = section.Choice(nameof(Revocation), Revocation);
        AllowTls12 = section.Flag(nameof(AllowTls12), AllowTls12);
        MaxConcurrentHandshakes = section.Number(nameof(MaxConcurrentHandshakes), MaxConcurrentHandshakes, 0, 256);
        if (!section.ChecksTogether)
        {
            return;
        }

        if (UseDevelopmentCertificate && CertificateFile.Length != 0)
        {
            section.Add(nameof(UseDevelopmentCertificate), "CertificateFile is also set; keep one.");
        }

        if (KeyFile.Length != 0 && CertificateFile.Length == 0)
        {
            section.Add(nameof(KeyFile), "there is no CertificateFile; name the certificate of this key.");
        }

        if (ClientCertificates == ClientCertificateMode.None && ClientAuthorityFile.Length != 0)
        {
            section.Add(nameof(ClientAuthorityFile), "ClientCertificates is None; set Optional or Required, or remove the file.");
        }
    }
}
