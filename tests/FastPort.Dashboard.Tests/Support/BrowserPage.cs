using System.Collections.Concurrent;
using FastPort.Dashboard.Live;
using FastPort.Tests.Browser;
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
        context.SetDefaultTimeout((float)Patience.Limit.TotalMilliseconds);
        var page = new BrowserPage(context, await context.NewPageAsync());
        if (script is not null)
        {
            await context.AddInitScriptAsync(script);
        }

        await page.Page.GotoAsync(url.ToString());
        return page;
    }

    public Task ShowsAsync(string selector, string text) => Assertions.Expect(Page.Locator(selector)).ToHaveTextAsync(
        text, new LocatorAssertionsToHaveTextOptions { Timeout = (float)Patience.Limit.TotalMilliseconds });

    /// <summary>What was written into a chart, where the script of the page keeps it in <c>texts</c>.</summary>
    /// <param name="chart">The chart's name.</param>
    public Task<string[]> TextsAsync(string chart) => Page.EvaluateAsync<string[]>(
        """
        id => window.texts.filter(([canvas]) => canvas.closest("figure")?.getAttribute("aria-labelledby") === id).map(([, text]) => text)
        """,
        $"chart-{chart}");

    /// <summary>
    /// Lets seconds pass of which the page shows each. A few at a time: a reader that is further behind is dropped.
    /// </summary>
    /// <param name="time">The clock of the host.</param>
    /// <param name="feed">The feed of the host.</param>
    /// <param name="seconds">How many; a multiple of 5.</param>
    /// <param name="each">What happens in each second.</param>
    public async Task PassAsync(FakeTimeProvider time, LiveFeed feed, int seconds, Func<Task>? each = null)
    {
        for (int i = 0; i < seconds; i += 5)
        {
            int before = feed.Samples;
            for (int s = 1; s <= 5; s++)
            {
                await (each?.Invoke() ?? Task.CompletedTask);
                time.Advance(TimeSpan.FromSeconds(1));
                await Patience.UntilAsync(() => feed.Samples == before + s, "the second is sampled");
            }

            await Page.WaitForFunctionAsync(
                "at => Number(document.getElementById('charts').dataset.last) === at", time.GetUtcNow().ToUnixTimeMilliseconds());
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _context.CloseAsync();
        Assert.Empty(_complaints);
    }
}
