using System.Collections.Concurrent;
using Deque.AxeCore.Commons;
using Deque.AxeCore.Playwright;
using FastPort.Tests.Support;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Tests.Browser;

/// <summary>
/// A page of a server, in a browser that remembers nothing. What the browser complains about fails the test when the page is disposed:
/// errors of scripts, and what the security policy refused.
/// </summary>
internal sealed class VisitedPage : IAsyncDisposable
{
    private readonly IBrowserContext _context;
    private readonly ConcurrentQueue<string> _complaints = new();

    private VisitedPage(IBrowserContext context, IPage page)
    {
        _context = context;
        Page = page;
        page.PageError += (_, error) => _complaints.Enqueue(error);
        page.Console += (_, message) =>
        {
            // Chromium logs failed requests as errors; tests stop servers on purpose.
            if (message.Type == "error" && !message.Text.Contains("Failed to load resource", StringComparison.Ordinal)
                && !message.Text.Contains("net::ERR_", StringComparison.Ordinal))
            {
                _complaints.Enqueue(message.Text);
            }
        };
    }

    public IPage Page { get; }

    /// <summary>Opens a page. A script, if there is one, runs before those of the page.</summary>
    public static async Task<VisitedPage> OpenAsync(
        Chromium chromium, Uri url, int width = 1280, ColorScheme colors = ColorScheme.Light, string? script = null)
    {
        IBrowserContext context = await chromium.Browser.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = colors,
            IgnoreHTTPSErrors = true,
            Locale = "en-US",
            TimezoneId = "UTC",
        });
        context.SetDefaultTimeout((float)Patience.Limit.TotalMilliseconds);
        var page = new VisitedPage(context, await context.NewPageAsync());
        if (script is not null)
        {
            await context.AddInitScriptAsync(script);
        }

        await page.Page.GotoAsync(url.ToString());
        return page;
    }

    /// <summary>Waits until an element has a text.</summary>
    public Task ShowsAsync(string selector, string text) => Assertions.Expect(Page.Locator(selector)).ToHaveTextAsync(
        text, new LocatorAssertionsToHaveTextOptions { Timeout = (float)Patience.Limit.TotalMilliseconds });

    /// <summary>Waits until an expression is true.</summary>
    public Task UntilAsync(string expression) => Page.WaitForFunctionAsync(expression);

    /// <summary>That the page breaks none of axe's rules and is as wide as the window.</summary>
    public async Task AssertAccessibleAsync()
    {
        AxeResult found = await Page.RunAxe();
        Assert.Equal(string.Empty, string.Join('\n', found.Violations.Select(static v => $"{v.Id}: {v.Help}: {v.Nodes[0].Html}")));
        Assert.Equal(Page.ViewportSize!.Width, await Page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
    }

    public async ValueTask DisposeAsync()
    {
        await _context.CloseAsync();
        Assert.Empty(_complaints);
    }
}
