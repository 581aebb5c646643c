using FastPort.Dashboard.Live;
using FastPort.Tests.Browser;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>What tests ask of a page with charts.</summary>
internal static class DashboardPages
{
    /// <summary>What was written into a chart, where the script of the page keeps it in <c>texts</c>.</summary>
    /// <param name="page">The page.</param>
    /// <param name="chart">The chart's name.</param>
    public static Task<string[]> TextsAsync(this VisitedPage page, string chart) => page.Page.EvaluateAsync<string[]>(
        """
        id => window.texts.filter(([canvas]) => canvas.closest("figure")?.getAttribute("aria-labelledby") === id).map(([, text]) => text)
        """,
        $"chart-{chart}");

    /// <summary>
    /// Lets seconds pass of which the page shows each. A few at a time: a reader that is further behind is dropped.
    /// </summary>
    /// <param name="page">The page.</param>
    /// <param name="time">The clock of the host.</param>
    /// <param name="feed">The feed of the host.</param>
    /// <param name="seconds">How many; a multiple of 5.</param>
    /// <param name="each">What happens in each second.</param>
    public static async Task PassAsync(
        this VisitedPage page, FakeTimeProvider time, LiveFeed feed, int seconds, Func<Task>? each = null)
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

            await page.Page.WaitForFunctionAsync(
                "at => Number(document.getElementById('charts').dataset.last) === at", time.GetUtcNow().ToUnixTimeMilliseconds());
        }
    }
}
