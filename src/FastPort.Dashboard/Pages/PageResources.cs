namespace FastPort.Dashboard.Pages;

/// <summary>The files of the page, read once.</summary>
internal static class PageResources
{
    /// <summary>The content type of a page.</summary>
    public const string Html = "text/html; charset=utf-8";
    private const string Script = "text/javascript; charset=utf-8";
    private const string Style = "text/css; charset=utf-8";
    private const string Message = "<!--message-->";

    public static PageResource Index { get; } = PageResource.Read("index.html", Html);

    public static PageResource Login { get; } = PageResource.Read("login.html", Html);

    public static PageResource LoginWrong { get; } = PageResource.Read(
        "login.html", Html, (Message, "<p role=\"alert\">This token is wrong. Use the token in Dashboard:Token of the configuration.</p>"));

    public static PageResource LoginTooMany { get; } = PageResource.Read(
        "login.html", Html, (Message, "<p role=\"alert\">Too many wrong tokens came from this address. Try again in a minute.</p>"));

    /// <summary>The files for readers with the token only, by path.</summary>
    public static IReadOnlyDictionary<string, PageResource> Guarded { get; } = new[]
    {
        "format.js", "charts.js", "history.js", "tables.js", "sessions.js", "actions.js", "stream.js", "dashboard.js",
        "tag-values.js", "tags.js", "fastport.min.js",
    }.Select(static name => KeyValuePair.Create($"/{name}", PageResource.Read(name, Script)))
        .Append(KeyValuePair.Create("/uplot.js", PageResource.Read("uPlot.iife.min.js", Script)))
        .Append(KeyValuePair.Create("/uplot.css", PageResource.Read("uPlot.min.css", Style)))
        .ToDictionary(StringComparer.Ordinal);

    /// <summary>The files that the login page also needs, by path.</summary>
    public static IReadOnlyDictionary<string, PageResource> Common { get; } = new Dictionary<string, PageResource>(StringComparer.Ordinal)
    {
        ["/dashboard.css"] = PageResource.Read("dashboard.css", Style),
        ["/icon.svg"] = PageResource.Read("icon.svg", "image/svg+xml"),
    };
}
