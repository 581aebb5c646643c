using Microsoft.Playwright;

namespace FastPort.Site.Checks;

/// <summary>Pages of each kind, and the search, shown in Chromium on a desk and on a phone, in light and dark.</summary>
internal static class BrowserCheck
{
    // The home page, a page of each kind, a wide table, and pages of the API reference.
    private static readonly string[] Pages =
    [
        "index.html", "docs/start.html", "docs/services.html", "docs/options.html", "docs/decisions/0012-the-hot-path.html",
        "api/index.html", "api/FastPort.FastPortServer.html",
    ];

    private static readonly (int Width, ColorScheme Colors)[] Screens =
        [(1280, ColorScheme.Light), (1280, ColorScheme.Dark), (390, ColorScheme.Light), (390, ColorScheme.Dark)];

    // What is searched, and the page that is among the results.
    private static readonly (string Text, string Page)[] Searches =
        [("back-pressure", "docs/streams.html"), ("FastPortServerOptions", "api/FastPort.FastPortServerOptions.html")];

    public static async Task RunAsync(Tap tap, string site, string? pictures)
    {
        await using var server = await SiteServer.StartAsync(site);
        using IPlaywright playwright = await Playwright.CreateAsync();
        await using IBrowser browser = await playwright.Chromium.LaunchAsync(
            new BrowserTypeLaunchOptions { ExecutablePath = Chromium(), Args = ["--no-sandbox"] });
        foreach ((int width, ColorScheme colors) in Screens)
        {
            List<string> problems = [];
            foreach (string path in Pages)
            {
                await LookAsync(path, async page => await page.GotoAsync(new Uri(server.Url, path).ToString()));
            }

            string where = $"at {width} px, {colors.ToString().ToLowerInvariant()}";
            tap.Report(
                $"{Pages.Length} pages {where}: version shown, no wider than the screen, no serious violation for axe, no error", problems);
            problems.Clear();
            foreach ((string text, string expected) in Searches)
            {
                await LookAsync($"search of {text}", page => SearchAsync(page, text, expected));
            }

            tap.Report($"{Searches.Length} searches {where} find the page that is about it", problems);

            async Task LookAsync(string name, Func<IPage, Task> open)
            {
                await using BrowserPage page = await BrowserPage.OpenAsync(browser, width, colors, name, problems);
                await page.LookAsync(open, pictures);
            }
        }

        async Task SearchAsync(IPage page, string text, string expected)
        {
            await page.GotoAsync(server.Url.ToString());
            ILocator field = page.GetByRole(AriaRole.Searchbox, new() { Name = "Search" });
            if (!await field.IsVisibleAsync())
            {
                await page.GetByRole(AriaRole.Button, new() { Name = "Toggle navigation" }).ClickAsync();
            }

            await field.FillAsync(text);
            await page.Locator($"#search-results a[href*='{expected}']").First.WaitForAsync();
        }
    }

    private static string Chromium() => (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator)
        .Select(static folder => Path.Combine(folder, "chromium")).FirstOrDefault(File.Exists)
        ?? throw new FileNotFoundException("No chromium is on the path.");
}
