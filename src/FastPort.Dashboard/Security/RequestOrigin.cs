using System.Net;
using Microsoft.AspNetCore.Http;

namespace FastPort.Dashboard.Security;

/// <summary>
/// Whether a request is meant for the dashboard. A page of another site can make a browser send requests: by its own host name that
/// resolves to this address (the Host header has that name), or across sites (the Origin header has that site). Immutable.
/// </summary>
internal sealed class RequestOrigin(IEnumerable<string> allowedHosts)
{
    private readonly HashSet<string> _allowed = new(allowedHosts, StringComparer.OrdinalIgnoreCase) { "localhost" };

    /// <summary>Whether the Host header is an address, for which no name was resolved, or an allowed name.</summary>
    public bool HasOwnHost(HttpRequest request) =>
        request.Host.HasValue
        && (_allowed.Contains(request.Host.Host) || IPAddress.TryParse(request.Host.Host.Trim('[', ']'), out _));

    /// <summary>Whether a request that changes something comes from the dashboard's own page, or from a program with the token.</summary>
    /// <remarks>
    /// A page from https may be this one behind a proxy that terminates TLS; a page from http does not belong to a dashboard with https.
    /// Behind a proxy that forwards a different Host, the browser's own header decides, if it is sent over https or on this machine.
    /// </remarks>
    public static bool IsSameSite(HttpRequest request) =>
        request.Headers.Origin is [{ } origin]
            ? origin == $"{request.Scheme}://{request.Host}" || origin == $"https://{request.Host}"
                || request.Headers["Sec-Fetch-Site"] == "same-origin"
            : request.Headers.Origin.Count == 0 && AccessToken.Sent(request) is not null;

    /// <summary>Whether the browser has sent a request over TLS, to the dashboard or to a proxy before it.</summary>
    public static bool IsSecure(HttpRequest request) =>
        request.IsHttps || (request.Headers.Origin is [{ } origin] && origin.StartsWith("https://", StringComparison.Ordinal));
}
