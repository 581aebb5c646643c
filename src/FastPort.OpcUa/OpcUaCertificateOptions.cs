using FastPort.Configuration;

namespace FastPort.OpcUa;

/// <summary>The directory of an application's certificate and of the certificates that it trusts.</summary>
public sealed class OpcUaCertificateOptions
{
    /// <summary>
    /// The directory. <c>own/certificate.pem</c> and <c>own/key.pem</c> are created at the first start. <c>trusted</c> and <c>issuers</c>
    /// hold certificates in DER or PEM, and the revocation lists of authorities as <c>*.crl</c>; certificates that are not trusted are
    /// saved in <c>rejected</c>. Defaults to <c>pki</c> next to the program.
    /// </summary>
    public string Directory { get; set; } = Path.Combine(AppContext.BaseDirectory, "pki");

    /// <summary>
    /// Whether a certificate that an authority has issued is refused with BadCertificateRevocationUnknown as long as that authority has no
    /// valid revocation list here (OPC 10000-4, 6.1.3). Certificates that an existing list revokes are always refused, even if the list has
    /// expired. Defaults to false.
    /// </summary>
    public bool RequireRevocationLists { get; set; }

    /// <summary>Accepts every certificate of a peer, so any peer can impersonate any other. For tests only. Defaults to false.</summary>
    public bool UnsafeTrustAll { get; set; }

    internal void Describe(OptionSection section)
    {
        Directory = section.Text(
            nameof(Directory), Directory, static path => !string.IsNullOrWhiteSpace(path), "give the path of a directory");
        RequireRevocationLists = section.Flag(nameof(RequireRevocationLists), RequireRevocationLists);
        UnsafeTrustAll = section.Flag(nameof(UnsafeTrustAll), UnsafeTrustAll);
    }
}
