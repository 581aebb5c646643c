using System.Globalization;
using System.Text.Json;
using FastPort.Dashboard.Live;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The page in a real browser, in front of a real server.</summary>
public sealed class BrowserTests(Chromium chromium) : IClassFixture<Chromium>
{
    private const string Echo = "#latency tbody tr:nth-child(2)";

    [BrowserFact]
    public async Task FiguresAreThoseOfTheJsonReport()
    {
        string directory = Directory.CreateTempSubdirectory("fastport-dashboard").FullName;
        await using DashboardHost host = await DashboardHost.StartAsync(
            null, ("LatencyStats:EnableConsoleOutput", "false"), ("LatencyStats:OutputDirectory", directory));
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 2000);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.Page.GetByLabel("Since the start").CheckAsync();
        await page.ShowsAsync($"{Echo} td:nth-child(2)", "2,000");

        // The report is written while the server stops. The page keeps what it had last.
        await host.StopAsync();
        await page.ShowsAsync("#state", "server stopped, reconnecting");

        string file = Assert.Single(Directory.GetFiles(directory, "*.json"));
        using JsonDocument report = JsonDocument.Parse(await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken));
        JsonElement echo = report.RootElement.GetProperty("scopes").EnumerateArray()
            .Single(static scope => scope.GetProperty("name").GetString() == "Echo").GetProperty("lifetime");
        JsonElement us = echo.GetProperty("decode_to_send").GetProperty("us");
        IReadOnlyList<string> cells = await page.Page.Locator($"{Echo} > *").AllTextContentsAsync();
        Assert.Equal("Echo", cells[0]);
        Assert.Equal(echo.GetProperty("messages").GetInt64().ToString("N0", CultureInfo.InvariantCulture), cells[1]);
        Assert.Equal(
            ((string[])["p50", "p90", "p99", "p999", "max"]).Select(name => Microseconds(us.GetProperty(name).GetDouble())),
            cells.Skip(3).Take(5));
        Assert.Equal(echo.GetProperty("errors").GetInt64().ToString(CultureInfo.InvariantCulture), cells[8]);
        Directory.Delete(directory, recursive: true);
    }

    [BrowserFact]
    public async Task MicrosecondsAreShownAsTheTextReportsShowThem()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        double[] values = [.. Enumerable.Range(0, 40_000).Select(static i => i * 7 / 1000.0), 112.05, 112.25, 50.135, 1234567.05];

        string[] shown = await page.Page.EvaluateAsync<string[]>(
            "async values => values.map((await import('/format.js')).microseconds)", values);

        Assert.Equal(values.Select(Microseconds), shown);
    }

    [BrowserFact]
    public async Task BytesAreShownInPowersOf1000AsTheReportsAndTopShowThem()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);

        string[] shown = await page.Page.EvaluateAsync<string[]>(
            "async values => values.map((await import('/format.js')).bytes)", (double[])[1, 999, 1000, 999_700, 1_536_000, 2e9]);

        Assert.Equal(["1 B", "999 B", "1 kB", "1 MB", "1.54 MB", "2 GB"], shown);
    }

    [BrowserFact]
    public async Task AStoppedServerIsShownAndThePageComesBack()
    {
        await using DashboardHost first = await DashboardHost.StartAsync();
        await DashboardHost.EchoAsync(await first.ConnectAsync(), 7);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, first.Url);
        await page.ShowsAsync($"{Echo} td:nth-child(2)", "7");
        await page.ShowsAsync("#state", "running");

        await first.StopAsync();
        await page.ShowsAsync("#state", "server stopped, reconnecting");

        await using DashboardHost second = await DashboardHost.StartAsync(
            null, ("Dashboard:Url", first.Url.GetLeftPart(UriPartial.Authority)), ("FastPort:ServerName", "The second"));
        await DashboardHost.EchoAsync(await second.ConnectAsync(), 3);
        await page.ShowsAsync("#state", "running");
        await page.ShowsAsync("#server", "The second");
        await page.ShowsAsync($"{Echo} td:nth-child(2)", "3");
    }

    // A browser without a window hides no page: the test tells the page so, as a browser does.
    [BrowserFact]
    public async Task APageThatNobodySeesHoldsNoConnectionAndComesBack()
    {
        const string Hide =
            "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
            + " document.dispatchEvent(new Event('visibilitychange')); }";
        await using DashboardHost host = await DashboardHost.StartAsync();
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.ShowsAsync("#state", "running");

        await page.Page.EvaluateAsync(Hide, true);
        await Patience.UntilAsync(() => feed.Readers == 0, "the stream has ended");
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 7);
        await page.Page.EvaluateAsync(Hide, false);

        await page.ShowsAsync($"{Echo} td:nth-child(2)", "7");
        await page.ShowsAsync("#state", "running");
        Assert.Equal(1, feed.Readers);
    }

    [BrowserFact]
    public async Task APageThatIsOneTooManySaysThatItHasNoFigures()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        List<EventStream> open = [];
        for (int i = 0; i < LiveFeed.MaxReaders; i++)
        {
            open.Add(await EventStream.OpenAsync(host.Http));
        }

        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.ShowsAsync("#state", "no figures, retrying");
        open.ForEach(static stream => stream.Dispose());

        await page.ShowsAsync("#state", "running");
    }

    [BrowserFact]
    public async Task AnActionThatIsNotAnsweredSaysSo()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.Page.GetByLabel("Token").FillAsync(DashboardHost.Token);
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#state", "running");
        await page.Page.RouteAsync("**/actions/drain", static _ => Task.CompletedTask);

        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Drain and stop the server" }).ClickAsync();
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Drain and stop", Exact = true }).ClickAsync();

        await page.ShowsAsync("#action-result", "The server did not answer; it is unknown whether it has done this.");
    }

    [BrowserFact]
    public async Task SessionsAreSortedFilteredAndPagedByKeyboard()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        for (int i = 1; i <= 120; i++)
        {
            await host.ConnectAsync(routingId: $"machine-{i:000}");
        }

        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        ILocator first = page.Page.Locator("#sessions tbody tr:first-child td:nth-child(2)");
        await page.ShowsAsync("#sessions-status", "1 to 100 of 120 sessions");

        // By routing id, up and down.
        ILocator header = page.Page.GetByRole(AriaRole.Button, new() { Name = "Routing id" });
        await header.FocusAsync();
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#sessions tbody tr:first-child td:nth-child(2)", "machine-001");
        Assert.Equal("ascending", await page.Page.Locator("th[data-sort=routingId]").GetAttributeAsync("aria-sort"));
        Assert.Equal("none", await page.Page.Locator("th[data-sort=rate]").GetAttributeAsync("aria-sort"));
        await page.Page.Keyboard.PressAsync("Space");
        await page.ShowsAsync("#sessions tbody tr:first-child td:nth-child(2)", "machine-120");
        Assert.Equal("descending", await page.Page.Locator("th[data-sort=routingId]").GetAttributeAsync("aria-sort"));

        // The second page, and back.
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Next" }).FocusAsync();
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#page", "Page 2 of 2");
        await page.ShowsAsync("#sessions tbody tr:first-child td:nth-child(2)", "machine-020");
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Previous" }).FocusAsync();
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#page", "Page 1 of 2");

        await page.Page.GetByLabel("Filter").FocusAsync();
        await page.Page.Keyboard.TypeAsync("machine-11");
        await page.ShowsAsync("#sessions-status", "1 to 10 of 10 that match, of 120 sessions");
        Assert.Equal("machine-119", await first.TextContentAsync());
    }

    [BrowserFact]
    public async Task AnOperatorLogsInAndClosesASession()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        await DashboardHost.EchoAsync(await host.ConnectAsync(routingId: "machine-7"), 1);
        long id = Assert.Single(host.Server.Sessions).Id;
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        Assert.EndsWith("/login", page.Page.Url, StringComparison.Ordinal);
        await page.Page.GetByLabel("Token").FillAsync("a-wrong-token-of-the-tests");
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("[role=alert]", "This token is wrong. Use the token in Dashboard:Token of the configuration.");
        await page.Page.GetByLabel("Token").FillAsync(DashboardHost.Token);
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#state", "running");

        await page.Page.GetByRole(AriaRole.Button, new() { Name = $"Close session {id}", Exact = true }).ClickAsync();
        await page.ShowsAsync("#confirm-text", $"Close session {id}? Its client may reconnect.");
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Close it" }).ClickAsync();

        await page.ShowsAsync("#action-result", $"Session {id} is closed.");
        await Assertions.Expect(page.Page.Locator("#warnings")).ToContainTextAsync("Dashboard action by 127.0.0.1: close session");
        await Assertions.Expect(page.Page.Locator("#reasons")).ToContainTextAsync("Session closed");
    }

    [BrowserFact]
    public async Task PaperIsWhiteAlsoWhereTheScreenIsDark()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, colors: ColorScheme.Dark);
        await page.ShowsAsync("#state", "running");
        const string Background = "getComputedStyle(document.body).backgroundColor";
        string dark = await page.Page.EvaluateAsync<string>(Background);

        await page.Page.EvaluateAsync("dispatchEvent(new Event('beforeprint'))");
        Assert.Equal("rgb(244, 246, 249)", await page.Page.EvaluateAsync<string>(Background));

        await page.Page.EvaluateAsync("dispatchEvent(new Event('afterprint'))");
        Assert.Equal(dark, await page.Page.EvaluateAsync<string>(Background));
    }

    [BrowserFact]
    public async Task APageThatStaysOpenDoesNotGrow()
    {
        var time = new FakeTimeProvider();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<TimeProvider>(time));
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.ShowsAsync("#uptime", "0 s");
        await page.PassAsync(time, feed, LiveFeed.HistorySeconds + 10);
        int full = await ElementsAsync();
        await page.PassAsync(time, feed, LiveFeed.HistorySeconds);

        Assert.Equal(full, await ElementsAsync());
        Assert.Equal(LiveFeed.HistorySeconds, await page.Page.EvaluateAsync<int>("document.getElementById('charts').dataset.points * 1"));

        Task<int> ElementsAsync() => page.Page.EvaluateAsync<int>("document.querySelectorAll('*').length");
    }

    [BrowserFact]
    public async Task OneMessageIsSeenInTheLatencyChart()
    {
        var time = new FakeTimeProvider();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<TimeProvider>(time));
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        await page.ShowsAsync("#uptime", "0 s");
        ILocator chart = page.Page.Locator("figure[aria-labelledby=chart-latency]");
        await page.PassAsync(time, feed, 5);
        Assert.Equal(0, await ChartPixels.CountAsync(chart, ["c1", "c2", "c3"]));

        await DashboardHost.EchoAsync(await host.ConnectAsync(), 1);
        await page.PassAsync(time, feed, 5);

        Assert.InRange(await ChartPixels.CountAsync(chart, ["c1", "c2", "c3"]), 5, 500);
    }

    // As the page and the text reports show microseconds, and as the browser rounds: what the number is in binary decides, not how it is
    // written. 50.135 is a little less. Halves are exact only in eighths, and go up.
    private static string Microseconds(double us)
    {
        bool isExact = us * 8 % 1 == 0;
        double rounded = us >= 1 && isExact ? (double)Math.Round((decimal)us, us < 100 ? 2 : 1, MidpointRounding.AwayFromZero) : us;
        return rounded.ToString(us < 1 ? "F3" : us < 100 ? "F2" : "N1", CultureInfo.InvariantCulture);
    }
}
