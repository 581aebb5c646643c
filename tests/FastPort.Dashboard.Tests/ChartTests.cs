using FastPort.Dashboard.Live;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>What the charts of the page draw, and their labels.</summary>
public sealed class ChartTests(Chromium chromium) : IClassFixture<Chromium>
{
    // Keeps what is written into charts: an axis is a picture.
    private const string RecordTexts =
        """
        window.texts = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
          window.texts.push([this.canvas, text]);
          return write.call(this, text, ...where);
        };
        """;

    private static readonly string[] Lines = ["c1", "c2", "c3"];

    [BrowserTheory]
    [InlineData(-3600)]
    [InlineData(3600)]
    public async Task AStepOfTheWallClockNeitherEmptiesAChartNorDrawsALine(int step)
    {
        var time = new FakeTimeProvider { WallClockStep = TimeSpan.FromHours(5) };
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<TimeProvider>(time));
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        FastPortClient client = await host.ConnectAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, script: RecordTexts);
        await page.ShowsAsync("#uptime", "0 s");

        // A minute: 20 seconds without messages, 20 with some, the step, and 20 more.
        await page.PassAsync(time, feed, 20);
        await page.PassAsync(time, feed, 20, () => DashboardHost.EchoAsync(client, 1));
        time.WallClockStep += TimeSpan.FromSeconds(step);
        await page.PassAsync(time, feed, 15, () => DashboardHost.EchoAsync(client, 1));
        await page.Page.EvaluateAsync("window.texts.length = 0");
        await page.PassAsync(time, feed, 5, () => DashboardHost.EchoAsync(client, 1));

        ILocator chart = page.Page.Locator("figure[aria-labelledby=chart-latency]");
        Assert.Equal(0, await ChartPixels.CountAsync(chart, Lines, 0.02, 0.28));
        Assert.InRange(await ChartPixels.CountAsync(chart, Lines, 0.4, 0.6), 20, int.MaxValue);
        Assert.InRange(await ChartPixels.CountAsync(chart, Lines, 0.75, 0.95), 20, int.MaxValue);
        int hour = 5 + (step / 3600);
        await page.ShowsAsync("#until", $"1970-01-01 0{hour}:01:00 UTC");
        string[] times = [.. (await page.TextsAsync("latency")).Where(static text => text.Contains(':', StringComparison.Ordinal))];
        Assert.Contains($"0{hour}:00:15", times);
        Assert.All(times, text => Assert.Matches($"^0{hour}:00:[0-5][05]|0{hour}:01:00$", text));
    }

    [BrowserFact]
    public async Task NoConnectionIsHalfAConnection()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        for (int i = 0; i < 8; i++)
        {
            await host.ConnectAsync();
        }

        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, script: RecordTexts);
        await page.ShowsAsync("#connections", "8");

        string[] labels = [.. (await page.TextsAsync("connections")).Where(static text => !text.Contains(':', StringComparison.Ordinal))];

        Assert.Contains("5", labels);
        Assert.All(labels, static label => Assert.Matches("^[0-9]+$", label));
    }

    [BrowserFact]
    public async Task ALegendNamesOnlyWhatIsDrawn()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(null, ("FastPort:Transport", "Sockets"));
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);

        await page.ShowsAsync("#loops-each", "no event loops on this transport");

        // The processors have values from the second point on.
        ILocator shown = page.Page.Locator("figure[aria-labelledby=chart-busy] .legend li:visible");
        await Assertions.Expect(shown).ToHaveCountAsync(1);
        await Assertions.Expect(shown).ToContainTextAsync("processors");
    }
}
