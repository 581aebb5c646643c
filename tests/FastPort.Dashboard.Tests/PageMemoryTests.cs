using System.Text.Json;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>What the page keeps while it is open: an hour of events, as fast as it takes them.</summary>
public sealed class PageMemoryTests(Chromium chromium) : IClassFixture<Chromium>
{
    // The history has 600 seconds: it is full by then, and everything has been made that is made once.
    private const int Full = 700;
    private const int Hour = 3600;
    private const long Allowed = 256 * 1024;

    // Events come from the test; the page does not see a difference.
    private const string FakeStream =
        """
        window.EventSource = class extends EventTarget {
          constructor() { super(); window.stream = this; }
          close() {}
        };
        """;

    // Each second has new values, and the same series.
    private const string Feed =
        """
        async ([json, from, to]) => {
          const figures = JSON.parse(json);
          const at = figures.point.at;
          for (let second = from; second < to; second++) {
            figures.point.at = at + second * 1000;
            figures.point.values = figures.point.values.map((value, i) => value === null ? null : (value + second * (i + 1)) % 1000);
            figures.point.latencies = figures.point.latencies.map(() => [second, second % 50 + 1, second % 90 + 2, second % 200 + 3]);
            figures.uptimeSeconds += 1;
            window.stream.dispatchEvent(new MessageEvent("figures", { data: JSON.stringify(figures) }));
            if (second % 20 === 0) {
              await new Promise(drawn => requestAnimationFrame(drawn));
            }
          }
        }
        """;

    [BrowserFact]
    public async Task AnHourOfEventsAddsNothingToAPageThatIsFull()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 100);
        using EventStream events = await EventStream.OpenAsync(host.Http);
        JsonElement history = (await events.ReadAsync())!.Value.Data;
        JsonElement figures = await events.ReadFiguresAsync(static f => f.GetProperty("latencies").GetArrayLength() == 2);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, script: FakeStream);
        ICDPSession tools = await page.Page.Context.NewCDPSessionAsync(page.Page);
        await tools.SendAsync("Performance.enable");
        await page.Page.EvaluateAsync(
            "json => window.stream.dispatchEvent(new MessageEvent('history', { data: json }))", history.GetRawText());

        await FeedAsync(0, Full);
        Dictionary<string, double> before = await MeasureAsync();
        await FeedAsync(Full, Full + Hour);
        Dictionary<string, double> after = await MeasureAsync();

        Assert.InRange(after["JSHeapUsedSize"] - before["JSHeapUsedSize"], long.MinValue, Allowed);
        Assert.InRange(after["Nodes"] - before["Nodes"], int.MinValue, 50);
        Assert.InRange(after["JSEventListeners"] - before["JSEventListeners"], int.MinValue, 5);

        Task FeedAsync(int from, int to) => page.Page.EvaluateAsync(Feed, new object[] { figures.GetRawText(), from, to });

        async Task<Dictionary<string, double>> MeasureAsync()
        {
            // Two collections: the first one frees what finalizers of the page's objects hold.
            await tools.SendAsync("HeapProfiler.collectGarbage");
            await tools.SendAsync("HeapProfiler.collectGarbage");
            JsonElement metrics = (await tools.SendAsync("Performance.getMetrics"))!.Value;
            return metrics.GetProperty("metrics").EnumerateArray().ToDictionary(
                static metric => metric.GetProperty("name").GetString()!,
                static metric => metric.GetProperty("value").GetDouble(),
                StringComparer.Ordinal);
        }
    }
}
