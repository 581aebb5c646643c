namespace FastPort.Dashboard.Tags;

/// <summary>The origins of the dashboard's pages, as browsers send them to the server's WebSocket endpoints.</summary>
internal static class PageOrigins
{
    /// <summary>Lets the dashboard's pages connect to a server that serves tags.</summary>
    /// <param name="server">The server.</param>
    /// <param name="webSocket">The options of its WebSocket endpoints; it reads them for each connection.</param>
    /// <param name="url">Where the dashboard listens.</param>
    /// <param name="options">The dashboard's options.</param>
    public static void Allow(FastPortServer server, WebSocketServerOptions webSocket, Uri url, DashboardOptions options)
    {
        if (TagEndpoints.HasTags(server))
        {
            webSocket.AllowedOrigins = [.. webSocket.AllowedOrigins, .. Of(url, options)];
        }
    }

    // Exact names only. Which of its addresses a browser uses for a dashboard on all of them is not known.
    private static IEnumerable<string> Of(Uri url, DashboardOptions options)
    {
        yield return url.GetLeftPart(UriPartial.Authority);
        foreach (string name in options.AllowedHosts.Prepend("localhost"))
        {
            yield return new UriBuilder(url.Scheme, name, url.Port).Uri.GetLeftPart(UriPartial.Authority);
        }
    }
}
