namespace FastPort.Site.Checks;

/// <summary>Checks a built site, and prints the results.</summary>
internal static class SiteCheck
{
    /// <summary>The exit code: 0 if nothing is wrong, otherwise 1.</summary>
    /// <param name="site">The folder of the site.</param>
    /// <param name="pictures">An existing folder for a picture of each page that is shown in the browser; null for none.</param>
    public static async Task<int> RunAsync(string site, string? pictures)
    {
        var tap = new Tap();
        HtmlPage[] pages =
        [
            .. Directory.EnumerateFiles(site, "*.html", SearchOption.AllDirectories).Order(StringComparer.Ordinal)
                .Where(static file => Path.GetFileName(file) != "toc.html").Select(file => new HtmlPage(site, file)),
        ];
        LinkCheck.Run(tap, site, pages);
        ReferenceCheck.Run(tap, pages);
        await BrowserCheck.RunAsync(tap, site, pictures);
        return tap.HasFailed ? 1 : 0;
    }
}
