using FastPort.Dashboard.Live;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>What is in sight: on a desk, on a phone and on paper.</summary>
public sealed class PageLayoutTests(Chromium chromium) : IClassFixture<Chromium>
{
    private const string Long = "a-gateway-with-a-long-name-in-hall-number-seventeen";

    [BrowserTheory]
    [InlineData(1280)]
    [InlineData(390)]
    public async Task TheActionOfASessionIsInSightWithoutScrolling(int width)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        await DashboardHost.EchoAsync(await host.ConnectAsync(Long, $"{Long}-1"), 10);
        await using VisitedPage page = await LogInAsync(host, width);

        ILocator button = page.Page.GetByRole(AriaRole.Button, new() { Name = "Close session" });
        await Assertions.Expect(button).ToHaveCountAsync(1);
        string overlap = await button.EvaluateAsync<string>(
            """
            button => {
              const [own, place] = [button, button.closest(".scroll")].map(element => element.getBoundingClientRect());
              return own.left >= place.left && own.right <= place.right ? "inside" : `${own.left} to ${own.right} of ${place.right}`;
            }
            """);

        Assert.Equal("inside", overlap);
    }

    [BrowserFact]
    public async Task ATableThatScrollsSaysSo()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        for (int i = 1; i <= 30; i++)
        {
            await host.ConnectAsync(Long, $"{Long}-{i}");
        }

        const string Hint = ".scroll:has(#sessions) + .more";
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, 1440);
        await page.ShowsAsync(Hint, "Scroll down for more.");
        await page.Page.SetViewportSizeAsync(390, 900);
        await page.ShowsAsync(Hint, "Scroll sideways and down for more.");
        await page.Page.SetViewportSizeAsync(1440, 900);
        await page.Page.GetByLabel("Filter").FillAsync($"{Long}-30");
        await page.ShowsAsync(Hint, string.Empty);
    }

    [BrowserTheory]
    [InlineData(794)]
    [InlineData(640)]
    public async Task NothingIsCutOffOnPaper(int width)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        for (int i = 1; i <= 30; i++)
        {
            await DashboardHost.EchoAsync(await host.ConnectAsync(Long, $"{Long}-{i}"), 1);
        }

        await using VisitedPage page = await LogInAsync(host, 1280);
        await Assertions.Expect(page.Page.Locator("#sessions tbody tr")).ToHaveCountAsync(30);
        await page.Page.EvaluateAsync("dispatchEvent(new Event('beforeprint'))");
        await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { Media = Media.Print });
        await page.Page.SetViewportSizeAsync(width, 1123);

        // The paper does not scroll, and a chart is not wider than its place.
        string[] cut = await page.Page.EvaluateAsync<string[]>(
            """
            () => [
              ...[...document.querySelectorAll(".scroll")]
                .filter(place => place.scrollWidth > place.clientWidth + 1 || place.scrollHeight > place.clientHeight + 1)
                .map(place => place.firstElementChild.id),
              ...[...document.querySelectorAll("canvas")]
                .filter(canvas => canvas.getBoundingClientRect().right > canvas.closest("figure").getBoundingClientRect().right + 1)
                .map(canvas => canvas.closest("figure").innerText),
              ...[...document.querySelectorAll(".tile small, .tile b")]
                .filter(text => text.scrollWidth > text.clientWidth + 1).map(text => text.id),
            ]
            """);
        Assert.Empty(cut);
        Assert.Equal(width, await page.Page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
    }

    [BrowserFact]
    public async Task TroubleHasATileThatStandsOutForAMinute()
    {
        var time = new FakeTimeProvider();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<TimeProvider>(time));
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        FastPortClient client = await host.ConnectAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);
        ILocator standsOut = page.Page.Locator(".tile.attention dt");
        await page.ShowsAsync("#uptime", "0 s");
        await page.PassAsync(time, feed, 5);
        await page.ShowsAsync("#errors-all", "0 since the start");
        await page.ShowsAsync("#rejected", "0/s");
        await page.ShowsAsync("#dropped", "0/s");
        await page.ShowsAsync("#slow", "0");
        await Assertions.Expect(standsOut).ToHaveCountAsync(0);

        // Nobody answers this type.
        await Assert.ThrowsAsync<RequestFailedException>(() => client.RequestAsync(0x4321, new Echo(), Echo.Parser));
        await page.PassAsync(time, feed, 5);
        await page.ShowsAsync("#errors-all", "1 since the start");
        await Assertions.Expect(standsOut).ToHaveTextAsync(["Errors sent"]);

        await page.PassAsync(time, feed, 60);
        await page.ShowsAsync("#errors-all", "1 since the start");
        await Assertions.Expect(standsOut).ToHaveCountAsync(0);
    }

    [BrowserFact]
    public async Task AWarningHasItsDateAndZone()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        host.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Machine").LogWarning("The pump is slow");
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url);

        ILocator at = page.Page.Locator("#warnings li", new() { HasText = "The pump is slow" }).Locator("time");

        await Assertions.Expect(at).ToHaveTextAsync(new System.Text.RegularExpressions.Regex("^20[0-9-]{8} [0-9:]{8} UTC$"));
    }

    private async Task<VisitedPage> LogInAsync(DashboardHost host, int width)
    {
        VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, width);
        await page.Page.GetByLabel("Token").FillAsync(DashboardHost.Token);
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#state", "running");
        return page;
    }
}
