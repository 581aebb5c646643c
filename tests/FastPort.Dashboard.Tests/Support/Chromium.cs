using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>The browser of the tests of a class: Chromium as the system has it.</summary>
public sealed class Chromium : IAsyncLifetime
{
    private IPlaywright? _playwright;
    private IBrowser? _browser;

    /// <summary>Why the tests are to be skipped; null where they run, as they always do in the gate (CI=true), be it to fail.</summary>
    public static string? SkipReason =>
        Program is not null || string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase)
            ? null : "Chromium is not on the path: install package chromium.";

    private static string? Program { get; } = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty)
        .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .SelectMany(static directory => (string[])[Path.Combine(directory, "chromium"), Path.Combine(directory, "chromium-browser")])
        .FirstOrDefault(File.Exists);

    public async ValueTask InitializeAsync()
    {
        if (SkipReason is not null)
        {
            return;
        }

        Assert.True(Program is not null, "Chromium is not on the path, and with CI=true the tests need it: install package chromium.");
        _playwright = await Playwright.CreateAsync();
        _browser = await _playwright.Chromium.LaunchAsync(
            new BrowserTypeLaunchOptions { ExecutablePath = Program, Args = ["--no-sandbox"] });
    }

    /// <summary>Skips the test where there is no browser.</summary>
    internal static void Require() => Assert.SkipUnless(SkipReason is null, SkipReason ?? string.Empty);

    /// <summary>
    /// Opens a page that nothing is remembered in. What the browser complains about fails the test when the page is disposed.
    /// </summary>
    internal async Task<BrowserPage> OpenAsync(Uri url, int width = 1280, ColorScheme colors = ColorScheme.Light)
    {
        IBrowserContext context = await _browser!.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = colors,
            Locale = "en-US",
            TimezoneId = "UTC",
        });
        context.SetDefaultTimeout((float)Core.Tests.Support.Patience.Limit.TotalMilliseconds);
        var page = new BrowserPage(context, await context.NewPageAsync());
        await page.Page.GotoAsync(url.ToString());
        return page;
    }

    public async ValueTask DisposeAsync()
    {
        if (_browser is not null)
        {
            await _browser.DisposeAsync();
        }

        _playwright?.Dispose();
    }
}
