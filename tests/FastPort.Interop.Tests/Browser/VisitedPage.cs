using System.Collections.Concurrent;
using Deque.AxeCore.Commons;
using Deque.AxeCore.Playwright;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Interop.Tests.Browser;

/// <summary>A page of a server, in a browser that remembers nothing. What its console shows as an error fails the test.</summary>
internal sealed class VisitedPage : IAsyncDisposable
{
    private readonly IBrowserContext _context;
    private readonly ConcurrentQueue<string> _errors = new();

    private VisitedPage(IBrowserContext context, IPage page)
    {
        _context = context;
        Page = page;
        page.PageError += (_, error) => _errors.Enqueue(error);
        page.Console += (_, message) =>
        {
            // The browser itself tells of a server that is away.
            if (message.Type is "error" or "warning" && !message.Text.Contains("net::ERR_", StringComparison.Ordinal))
            {
                _errors.Enqueue(message.Text);
            }
        };
    }

    public IPage Page { get; }

    public static async Task<VisitedPage> OpenAsync(
        Chromium chromium, string url, int width = 1280, ColorScheme scheme = ColorScheme.Light)
    {
        IBrowserContext context = await chromium.Browser.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = scheme,
            IgnoreHTTPSErrors = true,
            Locale = "en-US",
        });
        context.SetDefaultTimeout((float)Patience.Limit.TotalMilliseconds);
        var page = new VisitedPage(context, await context.NewPageAsync());
        await page.Page.GotoAsync(url);
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
        Assert.Empty(_errors);
    }
}
