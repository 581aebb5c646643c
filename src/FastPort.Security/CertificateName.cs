namespace FastPort.Security;

/// <summary>
/// The name in a client's certificate that identifies the user. If there are several names of that kind, the first one counts.
/// </summary>
public enum CertificateName
{
    /// <summary>None: certificates do not identify users.</summary>
    None,

    /// <summary>The common name (CN) of the subject. Other names are not used instead.</summary>
    CommonName,

    /// <summary>The DNS name of the alternative names (subjectAltName).</summary>
    DnsName,

    /// <summary>The e-mail address of the alternative names; not that of the subject.</summary>
    Email,

    /// <summary>The URI of the alternative names, such as a SPIFFE id.</summary>
    Uri,

    /// <summary>The whole subject as .NET writes it: <c>CN=anna, O=Plant</c>.</summary>
    Subject,
}
