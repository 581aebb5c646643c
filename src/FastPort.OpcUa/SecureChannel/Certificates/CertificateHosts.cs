using System.Net;
using System.Net.NetworkInformation;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The host names and addresses in certificates (OPC 10000-6, 6.2.2). Thread-safe.</summary>
internal static class CertificateHosts
{
    /// <summary>Whether a certificate is for this host, by its alternative names. An unreadable one is for none.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="host">A name or an address, without brackets.</param>
    public static bool Has(X509Certificate2 certificate, string host)
    {
        try
        {
            return certificate.MatchesHostname(host, allowWildcards: true, allowCommonName: false);
        }
        catch (Exception e) when (e is ArgumentException or CryptographicException)
        {
            return false;
        }
    }

    /// <summary>The names and addresses of a certificate for a message: no control characters.</summary>
    /// <param name="certificate">The certificate.</param>
    public static string Describe(X509Certificate2 certificate)
    {
        try
        {
            string[] all =
            [
                .. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().SelectMany(static names =>
                    names.EnumerateDnsNames().Concat(names.EnumerateIPAddresses().Select(static one => one.ToString()))),
            ];
            return all.Length == 0 ? "no host" : string.Concat(string.Join(", ", all).Where(static c => !char.IsControl(c)));
        }
        catch (CryptographicException)
        {
            return "no host";
        }
    }

    /// <summary>
    /// The hosts that clients connect to at an endpoint: its host, or for an endpoint on all addresses those that the machine has now.
    /// </summary>
    /// <param name="endpoint">A server's endpoint.</param>
    public static IEnumerable<string> Of(Endpoint endpoint) => IsAny(endpoint) ? MachineAddresses() : [endpoint.Host];

    /// <summary>Whether a server listens on all addresses of the machine at this endpoint.</summary>
    public static bool IsAny(Endpoint endpoint) =>
        IPAddress.TryParse(endpoint.Host, out IPAddress? address)
        && (address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any));

    private static IEnumerable<string> MachineAddresses()
    {
        try
        {
            return
            [
                .. NetworkInterface.GetAllNetworkInterfaces()
                    .Where(static one => one.OperationalStatus is OperationalStatus.Up or OperationalStatus.Unknown)
                    .SelectMany(static one => one.GetIPProperties().UnicastAddresses)
                    .Select(static one => one.Address)
                    .Where(static address => !address.IsIPv6LinkLocal)
                    .Select(static address => address.ToString()),
            ];
        }
        catch (NetworkInformationException)
        {
            // A sandbox may forbid it: then the machine's name alone is used.
            return [];
        }
    }
}
