using System.Text.RegularExpressions;
using Deque.AxeCore.Commons;
using Deque.AxeCore.Playwright;
using Microsoft.Playwright;

namespace FastPort.Site.Checks;

/// <summary>A page in the browser, and what is wrong with it.</summary>
internal sealed partial class BrowserPage : IAsyncDisposable
{
    private readonly IBrowserContext _context;
    private readonly IPage _page;
    private readonly int _width;
    private readonly ColorScheme _colors;
    private readonly string _name;
    private readonly List<string> _problems;

    private BrowserPage(IBrowserContext context, IPage page, int width, ColorScheme colors, string name, List<string> problems)
    {
        (_context, _page, _width, _colors, _name, _problems) = (context, page, width, colors, name, problems);
        page.PageError += (_, error) => Add(error);
        page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning")
            {
                Add(message.Text);
            }
        };
        page.Request += (_, request) =>
        {
            if (!new Uri(request.Url).IsLoopback && new Uri(request.Url).Scheme.StartsWith("http", StringComparison.Ordinal))
            {
                Add($"loads {request.Url}, which is not on the site");
            }
        };
    }

    /// <param name="browser">The browser.</param>
    /// <param name="width">Width of the screen, in pixels.</param>
    /// <param name="colors">What the system asks for.</param>
    /// <param name="name">What problems and pictures are called.</param>
    /// <param name="problems">Where problems are added.</param>
    public static async Task<BrowserPage> OpenAsync(IBrowser browser, int width, ColorScheme colors, string name, List<string> problems)
    {
        IBrowserContext context = await browser.NewContextAsync(new BrowserNewContextOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = colors,
            Locale = "en-US",
        });
        return new BrowserPage(context, await context.NewPageAsync(), width, colors, name, problems);
    }

    /// <param name="open">Opens the page.</param>
    /// <param name="pictures">A folder for a picture of it; null for none.</param>
    public async Task LookAsync(Func<IPage, Task> open, string? pictures)
    {
        try
        {
            await open(_page);
            await _page.WaitForFunctionAsync("window.docfx?.ready === true");
        }
        catch (Exception e) when (e is PlaywrightException or TimeoutException)
        {
            Add(e.Message);
        }

        if (pictures is not null)
        {
            string file = $"{NotPlain().Replace(_name, "-")}.{_width}.{_colors}.png";
            await _page.ScreenshotAsync(new PageScreenshotOptions { Path = Path.Combine(pictures, file) });
        }

        int shown = await _page.EvaluateAsync<int>("document.documentElement.scrollWidth");
        if (shown > _width)
        {
            Add($"is {shown} px wide");
        }

        string? theme = await _page.Locator("html").GetAttributeAsync("data-bs-theme");
        if (!string.Equals(theme, _colors.ToString(), StringComparison.OrdinalIgnoreCase))
        {
            Add("has other colors");
        }

        if (!(await _page.Locator("header").InnerTextAsync()).Contains(Libraries.Version, StringComparison.Ordinal))
        {
            Add($"does not show the version {Libraries.Version}");
        }

        AxeResult axe = await _page.RunAxe();
        foreach (AxeResultItem violation in axe.Violations.Where(static one => one.Impact is "serious" or "critical"))
        {
            IEnumerable<string> nodes = violation.Nodes.Take(3).Select(static node => $"{node.Html} {node.Any.FirstOrDefault()?.Message}");
            Add($"axe, {violation.Impact}: {violation.Id}: {violation.Help}: {violation.Nodes.Length} times: {string.Join("; ", nodes)}");
        }
    }

    public async ValueTask DisposeAsync() => await _context.CloseAsync();

    private void Add(string problem) => _problems.Add($"{_name}: {problem}");

    [GeneratedRegex(@"[^\w.]+")]
    private static partial Regex NotPlain();
}
