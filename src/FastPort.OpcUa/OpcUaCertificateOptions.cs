using FastPort.Configuration;

namespace FastPort.OpcUa;

/// <summary>Where an application keeps its certificate and those that it trusts.</summary>
public sealed class OpcUaCertificateOptions
{
    /// <summary>
    /// The directory. <c>own/certificate.pem</c> and <c>own/key.pem</c> are made at the first start. <c>trusted</c> and <c>issuers</c> hold
    /// certificates in DER or PEM, and the revocation lists of authorities as <c>*.crl</c>; what is not trusted is saved in
    /// <c>rejected</c>. Defaults to <c>pki</c> beside the program.
    /// </summary>
    public string Directory { get; set; } = Path.Combine(AppContext.BaseDirectory, "pki");

    /// <summary>
    /// Whether a certificate that an authority has issued is refused with BadCertificateRevocationUnknown as long as that authority has no
    /// valid revocation list here (OPC 10000-4, 6.1.3). What a list that is there revokes is refused in any case, also when the list's time
    /// is over. Defaults to false.
    /// </summary>
    public bool RequireRevocationLists { get; set; }

    /// <summary>
    /// Accepts every certificate of a peer, whoever made it: then anybody can pretend to be anybody. For tests. Defaults to false.
    /// </summary>
    public bool UnsafeTrustAll { get; set; }

    internal void Describe(OptionSection section)
    {
        Directory = section.Text(
            nameof(Directory), Directory, static path => !string.IsNullOrWhiteSpace(path), "give the path of a directory");
        RequireRevocationLists = section.Flag(nameof(RequireRevocationLists), RequireRevocationLists);
        UnsafeTrustAll = section.Flag(nameof(UnsafeTrustAll), UnsafeTrustAll);
    }
}
