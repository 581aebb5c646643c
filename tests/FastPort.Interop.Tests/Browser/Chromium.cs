using Microsoft.Playwright;

namespace FastPort.Interop.Tests.Browser;

/// <summary>The system's Chromium, driven by Playwright. Playwright's own browsers are not used: they are not in a package.</summary>
public sealed class Chromium : IAsyncDisposable
{
    private readonly IPlaywright _playwright;

    private Chromium(IPlaywright playwright, IBrowser browser)
    {
        _playwright = playwright;
        Browser = browser;
    }

    public IBrowser Browser { get; }

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

    public static async Task<Chromium> StartAsync()
    {
        IPlaywright playwright = await Playwright.CreateAsync();
        return new Chromium(playwright, await playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = Program ?? throw new InvalidOperationException("No chromium is on the path."),
            Args = ["--no-sandbox"],
        }));
    }

    public async ValueTask DisposeAsync()
    {
        await Browser.DisposeAsync();
        _playwright.Dispose();
    }
}
