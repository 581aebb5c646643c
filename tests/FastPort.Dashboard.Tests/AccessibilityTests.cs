using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The pages break none of axe's rules, in light and dark, on a desk and on a phone.</summary>
public sealed class AccessibilityTests(Chromium chromium) : IClassFixture<Chromium>
{
    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(1280, ColorScheme.Dark)]
    [InlineData(390, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task ThePageHasNoViolations(int width, ColorScheme colors)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        await FillAsync(host);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, width, colors);
        await page.AssertAccessibleAsync();
        await page.Page.GetByLabel("Token").FillAsync(DashboardHost.Token);
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#state", "running");
        await Assertions.Expect(page.Page.Locator("#sessions tbody tr")).ToHaveCountAsync(2);

        await page.AssertAccessibleAsync();

        // Nothing but tables is wider than the screen, and these scroll by themselves.
        Assert.Equal(width, await page.Page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Drain and stop the server" }).ClickAsync();
        await page.AssertAccessibleAsync();
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Cancel" }).ClickAsync();
        await host.StopAsync();
        await page.ShowsAsync("#state", "server stopped, reconnecting");
        await page.AssertAccessibleAsync();
    }

    // Something in every table.
    private static async Task FillAsync(DashboardHost host)
    {
        LatencyStats stats = host.Services.GetRequiredService<LatencyStats>();
        stats.AddCount("pump", "tags_read", static () => 7);
        stats.ForOperation("pump read").RecordCall(5000);
        ILogger logger = host.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Machine");
        logger.LogWarning("The pump is slow");
        logger.LogError("The pump has stopped");
        await DashboardHost.EchoAsync(await host.ConnectAsync("press", "machine-1"), 10);
        await DashboardHost.EchoAsync(await host.ConnectAsync("press", "machine-2"), 10);
        await using FastPortClient closed = await host.ConnectAsync();
    }
}
