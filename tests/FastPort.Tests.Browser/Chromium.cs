using Microsoft.Playwright;
using Xunit;

namespace FastPort.Tests.Browser;

/// <summary>
/// The browser of the tests of a class: the system's Chromium, driven by Playwright, whose own browsers are not in a package.
/// </summary>
public sealed class Chromium : IAsyncLifetime
{
    private IPlaywright? _playwright;
    private IBrowser? _browser;

    public IBrowser Browser => _browser ?? throw new InvalidOperationException("The test needs [BrowserFact] or [BrowserTheory].");

    /// <summary>Why the tests are to be skipped; null where they run, as they always do in the gate (CI=true), be it to fail.</summary>
    internal static string? SkipReason =>
        Program is not null || string.Equals(Environment.GetEnvironmentVariable("CI"), "true", StringComparison.OrdinalIgnoreCase)
            ? null
            : "No chromium is on the path: install it, in Debian with `apt-get install chromium`.";

    private static string? Program { get; } = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty)
        .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .SelectMany(static directory =>
            new[] { "chromium", "chromium-browser", "google-chrome" }.Select(name => Path.Combine(directory, name)))
        .FirstOrDefault(File.Exists);

    public async ValueTask InitializeAsync()
    {
        if (SkipReason is not null)
        {
            return;
        }

        Assert.True(Program is not null, "No chromium is on the path, and with CI=true the tests need it: `apt-get install chromium`.");
        _playwright = await Playwright.CreateAsync();
        _browser = await _playwright.Chromium.LaunchAsync(
            new BrowserTypeLaunchOptions { ExecutablePath = Program, Args = ["--no-sandbox"] });
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
