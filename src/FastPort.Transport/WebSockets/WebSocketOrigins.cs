using System.Net;

namespace FastPort.WebSockets;

/// <summary>
/// Which pages' browsers may connect. A browser names the page's origin, which the page cannot change, and sends the user's cookies and its
/// place in the network with it (RFC 6455, 10.2). Immutable.
/// </summary>
internal sealed class WebSocketOrigins(WebSocketServerOptions options)
{
    /// <summary>Why a request is refused, for its sender; null if it is not.</summary>
    /// <param name="origin">The origin.</param>
    /// <param name="host">The host that the client believes to connect to.</param>
    /// <param name="isLoopback">Whether the connection came to a loopback address.</param>
    /// <param name="isEncrypted">Whether TLS ends at this server: then its own pages are encrypted, too.</param>
    public string? WhyRefused(string origin, string host, bool isLoopback, bool isEncrypted)
    {
        if (options.AllowedOrigins.Any(allowed => allowed == "*" || allowed.Equals(origin, StringComparison.OrdinalIgnoreCase)))
        {
            return null;
        }

        if (!IsSameHost(origin, host, isEncrypted))
        {
            return "Pages of this origin may not connect; the server's option WebSocket:AllowedOrigins lists those that may.";
        }

        // A page whose name was made to mean this machine (DNS rebinding) is of the same host as the server, as far as it can be seen.
        return isLoopback && !IsLoopback(host)
            ? "On a loopback address only pages of localhost may connect; behind a proxy, list the page's origin in the server's option "
                + "WebSocket:AllowedOrigins."
            : null;
    }

    // An origin has no path (RFC 6454, 6.2), and a Host has no port where it is the scheme's own.
    private static bool IsSameHost(string origin, string host, bool isEncrypted) =>
        Uri.TryCreate(origin, UriKind.Absolute, out Uri? page)
        && (page.Scheme == "https" || (page.Scheme == "http" && !isEncrypted))
        && Uri.TryCreate($"{page.Scheme}://{host}", UriKind.Absolute, out Uri? server)
        && server.PathAndQuery == "/"
        && server.UserInfo.Length == 0
        && page.Authority.Equals(server.Authority, StringComparison.OrdinalIgnoreCase);

    private static bool IsLoopback(string host) =>
        Uri.TryCreate($"http://{host}", UriKind.Absolute, out Uri? server)
        && (server.Host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(server.Host.Trim('[', ']'), out IPAddress? address) && IPAddress.IsLoopback(address)));
}
