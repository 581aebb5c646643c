using System.Text.Encodings.Web;
using FastPort.Dashboard.Pages;
using FastPort.Dashboard.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Tags;

/// <summary>The page of tags. The page speaks with the server itself, over its WebSocket endpoint, as a client of its own.</summary>
internal sealed class TagEndpoints(FastPortServer server, DashboardOptions options) : IDashboardEndpoints
{
    // The type of ResolveTags: docs/protocol-messages.md.
    private const ushort ResolveTags = 0x0200;

    /// <summary>Whether a server serves tags.</summary>
    public static bool HasTags(FastPortServer server) => server.Handlers.Types.Contains(ResolveTags);

    public void Map(IEndpointRouteBuilder routes) => routes.MapRead("/tags", ShowAsync).WithMetadata(PageRoute.Instance);

    // Read anew for each reader: browsers get the address of the server that the page may connect to, and no other one.
    private Task ShowAsync(HttpContext context)
    {
        string url = HasTags(server) ? UrlFor(context.Request.Host) : string.Empty;
        if (url.StartsWith("ws", StringComparison.Ordinal))
        {
            context.Response.Headers.ContentSecurityPolicy =
                AccessMiddleware.PolicyFor($"'self' {new Uri(url).GetLeftPart(UriPartial.Authority)}");
        }

        return PageResource.Read(
            "tags.html",
            PageResources.Html,
            ("{server}", HtmlEncoder.Default.Encode(url)),
            ("{tags}", HasTags(server) ? "yes" : "no")).WriteAsync(context);
    }

    // An endpoint on all addresses is on the one that the reader has used, too.
    private string UrlFor(HostString host)
    {
        if (options.WebSocketUrl.Length != 0)
        {
            return options.WebSocketUrl;
        }

        Endpoint? endpoint = server.Endpoints.Where(static one => one.Scheme is "ws" or "wss").MaxBy(static one => one.Scheme.Length);
        return endpoint switch
        {
            null => string.Empty,
            { Host: "0.0.0.0" or "::" } => $"{endpoint with { Host = host.Host.Trim('[', ']') }}",
            _ => $"{endpoint}",
        };
    }
}
