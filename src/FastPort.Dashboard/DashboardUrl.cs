using System.Diagnostics.CodeAnalysis;
using System.Net;

namespace FastPort.Dashboard;

/// <summary>The address on which the dashboard listens: an http or https URL of an address, without a path.</summary>
/// <param name="Scheme">http or https.</param>
/// <param name="Host">localhost, an IP address (IPv6 without brackets).</param>
/// <param name="Port">The port; 0 lets the system choose.</param>
internal sealed record DashboardUrl(string Scheme, string Host, int Port)
{
    /// <summary>Whether only this machine reaches it.</summary>
    public bool IsLoopback => Host == "localhost" || (IPAddress.TryParse(Host, out IPAddress? address) && IPAddress.IsLoopback(address));

    /// <summary>Whether connections are encrypted.</summary>
    public bool IsSecure => Scheme == Uri.UriSchemeHttps;

    /// <inheritdoc/>
    public override string ToString() => $"{Scheme}://{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}";

    /// <summary>Reads a URL; false if the text is not a URL, or has a path, a user or an unknown scheme.</summary>
    public static bool TryParse([NotNullWhen(true)] string? text, [NotNullWhen(true)] out DashboardUrl? url)
    {
        url = null;
        if (!Uri.TryCreate(text, UriKind.Absolute, out Uri? uri)
            || (uri.Scheme != Uri.UriSchemeHttp && uri.Scheme != Uri.UriSchemeHttps)
            || uri.PathAndQuery != "/" || uri.UserInfo.Length != 0 || uri.Fragment.Length != 0
            || (uri.HostNameType == UriHostNameType.Dns && uri.Host != "localhost"))
        {
            return false;
        }

        url = new DashboardUrl(uri.Scheme, uri.HostNameType == UriHostNameType.IPv6 ? uri.DnsSafeHost : uri.Host, uri.Port);
        return true;
    }
}
