using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;

namespace FastPort.OpcUa.Client;

/// <summary>The endpoints that a server has listed.</summary>
internal static class EndpointList
{
    /// <summary>
    /// Those with a policy and mode that are of this client's transport: a server has the certificate of TLS at its endpoints of HTTPS. A
    /// null transport is treated as this one.
    /// </summary>
    public static IEnumerable<EndpointDescription> Of(
        IEnumerable<EndpointDescription> all, SecurityPolicy policy, MessageSecurityMode mode) =>
        OfTransport(all).Where(one => one.SecurityPolicyUri == policy.Uri && one.SecurityMode == mode);

    /// <summary>The certificate of the first one that has one, of this client's transport; null for none.</summary>
    public static ByteString CertificateIn(IEnumerable<EndpointDescription> all) =>
        OfTransport(all).Select(static one => one.ServerCertificate).FirstOrDefault(static one => one.Length != 0);

    private static IEnumerable<EndpointDescription> OfTransport(IEnumerable<EndpointDescription> all) =>
        all.Where(static one => string.IsNullOrEmpty(one.TransportProfileUri) || one.TransportProfileUri == OpcUaServer.TransportProfile);
}
