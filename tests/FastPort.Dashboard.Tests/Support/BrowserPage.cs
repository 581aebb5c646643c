using System.Collections.Concurrent;
using FastPort.Interop.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>A page in a browser, and what the browser complained about: errors of scripts, and what the security policy refused.</summary>
internal sealed class BrowserPage : IAsyncDisposable
{
    private readonly IBrowserContext _context;
    private readonly ConcurrentQueue<string> _complaints = new();

    private BrowserPage(IBrowserContext context, IPage page)
    {
        _context = context;
        Page = page;
        page.PageError += (_, error) => _complaints.Enqueue(error);
        page.Console += (_, message) =>
        {
            // A server that is away is told as an error of the network, which is no fault of the page.
            if (message.Type == "error" && !message.Text.Contains("Failed to load resource", StringComparison.Ordinal)
                && !message.Text.Contains("net::ERR_", StringComparison.Ordinal))
            {
                _complaints.Enqueue(message.Text);
            }
        };
    }

    public IPage Page { get; }

    /// <summary>
    /// Opens a page that nothing is remembered in. A script, if there is one, runs before those of the page. What the browser complains
    /// about fails the test when the page is disposed.
    /// </summary>
    public static async Task<BrowserPage> OpenAsync(
        Chromium chromium, Uri url, int width = 1280, ColorScheme colors = ColorScheme.Light, string? script = null)
    {
        IBrowserContext context = await chromium.Browser.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = colors,
            Locale = "en-US",
            TimezoneId = "UTC",
        });
        context.SetDefaultTimeout((float)Core.Tests.Support.Patience.Limit.TotalMilliseconds);
        var page = new BrowserPage(context, await context.NewPageAsync());
        if (script is not null)
        {
            await context.AddInitScriptAsync(script);
        }

        await page.Page.GotoAsync(url.ToString());
        return page;
    }

    public Task ShowsAsync(string selector, string text) => Assertions.Expect(Page.Locator(selector)).ToHaveTextAsync(
        text, new LocatorAssertionsToHaveTextOptions { Timeout = (float)Core.Tests.Support.Patience.Limit.TotalMilliseconds });

    public async ValueTask DisposeAsync()
    {
        await _context.CloseAsync();
        Assert.Empty(_complaints);
    }
}
