namespace FastPort.Security;

/// <summary>Which name of a client's certificate is its user's. Of several names of that kind the certificate's first one counts.</summary>
public enum CertificateName
{
    /// <summary>None: certificates name no users.</summary>
    None,

    /// <summary>The common name (CN) of the subject. Other names do not stand in for it.</summary>
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
