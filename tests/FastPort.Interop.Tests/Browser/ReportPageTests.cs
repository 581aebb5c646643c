using System.Globalization;
using System.Text.Json;
using Deque.AxeCore.Playwright;
using FastPort.Telemetry;
using FastPort.Tests.Browser;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Interop.Tests.Browser;

/// <summary>Reports as a person sees them, in a real browser and without a network.</summary>
public sealed class ReportPageTests(Chromium chromium) : IClassFixture<Chromium>, IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-report-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(1280, ColorScheme.Dark)]
    [InlineData(390, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task A_report_is_complete_accessible_and_fits_the_screen(int width, ColorScheme scheme)
    {
        byte[] json = await MeasureAsync();
        IPage page = await OpenAsync(HtmlReport.Create(json), width, scheme);

        Assert.Equal("FastPort report: latencies of a client", await page.Locator("h1").InnerTextAsync());
        Assert.Equal(
            ["Latency by percentile", "Over time", "Round trip over time, all messages", "Latencies", "Message types", "Worst sessions",
                "Settings and environment"],
            await page.Locator("h2").AllInnerTextsAsync());
        Assert.Equal(4, await page.Locator("canvas").CountAsync());
        Assert.True(await IsDrawnAsync(page));
        Assert.Equal(width, await page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
        await AssertAccessibleAsync(page);
    }

    [BrowserFact]
    public async Task The_tables_have_the_figures_of_the_file()
    {
        byte[] json = await MeasureAsync();
        using var file = JsonDocument.Parse(json);
        JsonElement lifetime = file.RootElement.GetProperty("scopes")[0].GetProperty("lifetime");
        IPage page = await OpenAsync(HtmlReport.Create(json));

        string messages = lifetime.GetProperty("messages").GetInt64().ToString("#,##0", CultureInfo.InvariantCulture);
        Assert.Equal(
            $"All {messages} messages of 2.000 s", await page.Locator("section:has(h2:text-is('Latencies')) caption").InnerTextAsync());
        double p99 = lifetime.GetProperty("round_trip").GetProperty("us").GetProperty("p99").GetDouble();
        Assert.Equal(
            $"{p99.ToString("0.0", CultureInfo.InvariantCulture)} µs",
            await page.Locator("section:has(h2:text-is('Latencies')) tbody tr:first-child td:nth-child(7)").InnerTextAsync());

        await page.Locator("section:has(h2:text-is('Over time')) summary").ClickAsync();
        Assert.Equal(["0 s"], await page.Locator("section:has(h2:text-is('Over time')) table.figures tbody th").AllInnerTextsAsync());
        await page.Locator("section:has(h2:text-is('Latency by percentile')) summary").ClickAsync();
        Assert.Equal(
            $"{p99.ToString("0.0", CultureInfo.InvariantCulture)} µs",
            await page.Locator("section:has(h2:text-is('Latency by percentile')) table.figures tr:has(th:text-is('99 %')) td").First
                .InnerTextAsync());
    }

    [BrowserFact]
    public async Task A_pointer_over_a_chart_shows_the_values()
    {
        IPage page = await OpenAsync(HtmlReport.Create(await MeasureAsync()));

        await page.Locator(".u-over").First.HoverAsync();
        await Assertions.Expect(page.Locator(".u-legend").First).ToContainTextAsync("µs");
        await page.Locator(".u-over").Last.HoverAsync(new LocatorHoverOptions { Position = new Position { X = 5, Y = 5 } });
        await Assertions.Expect(page.Locator(".under")).ToContainTextAsync("0 s, ");
    }

    [BrowserFact]
    public async Task Without_a_pointer_a_legend_has_no_label_without_a_value()
    {
        IPage page = await OpenAsync(HtmlReport.Create(await MeasureAsync()));

        IReadOnlyList<string> first = await page.Locator(".u-legend .u-series:first-child").AllInnerTextsAsync();
        Assert.Equal(3, first.Count);
        Assert.All(first, static text => Assert.Equal(string.Empty, text.Trim()));

        await page.Locator(".u-over").First.HoverAsync();
        await Assertions.Expect(page.Locator(".u-legend .u-series:first-child").First).ToBeVisibleAsync();
        await Assertions.Expect(page.Locator(".u-legend .u-series:first-child").First).ToContainTextAsync("%");
    }

    [BrowserFact]
    public async Task A_table_that_scrolls_says_so_and_is_whole_on_paper()
    {
        IPage page = await OpenAsync(HtmlReport.Create(await MeasureAsync()), 390);
        ILocator latencies = page.Locator("section:has(h2:text-is('Latencies'))");
        await Assertions.Expect(latencies.Locator(".more")).ToHaveTextAsync("Scroll sideways for more.");

        await page.EvaluateAsync("dispatchEvent(new Event('beforeprint'))");
        await page.EmulateMediaAsync(new PageEmulateMediaOptions { Media = Media.Print });
        await page.SetViewportSizeAsync(718, 1000);

        Assert.Empty(await page.EvaluateAsync<string[]>(
            """
            () => [...document.querySelectorAll(".scroll, .chart")].filter(place => place.scrollWidth > place.clientWidth + 1)
              .map(place => place.getAttribute("aria-label"))
            """));
        Assert.Equal(718, await page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
    }

    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task A_comparison_shows_both_runs_and_the_change(int width, ColorScheme scheme)
    {
        byte[] before = await MeasureAsync(slower: 2);
        byte[] after = await MeasureAsync();
        IPage page = await OpenAsync(HtmlReport.Compare(before, after), width, scheme);

        Assert.Equal(7, await page.Locator("canvas").CountAsync());
        Assert.Equal("−50.0 % better", await page.Locator("tr:has(th:text-is('round trip P99')) td").Last.InnerTextAsync());
        Assert.Equal("0.0 %", await page.Locator("tr:has(th:text-is('round trip P99/avg')) td").Last.InnerTextAsync());
        await AssertAccessibleAsync(page);
    }

    [BrowserFact]
    public async Task A_report_without_distributions_has_its_tables()
    {
        const string Result =
            """
            {"schema":1,"mode":"sink","server":"tcp://127.0.0.1:6628","connections":32,"in_flight":16,"payload_bytes":64,"rate":null,
             "duration_s":10.0,"messages":2000,"errors":0,"messages_per_s":200,"bytes_per_s":6.4,"rtt_us":null,"server_us":null,
             "network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null}
            """;
        IPage page = await OpenAsync(HtmlReport.Create(System.Text.Encoding.UTF8.GetBytes(Result)));

        Assert.Equal(["Settings and environment"], await page.Locator("h2").AllInnerTextsAsync());
        Assert.Equal(0, await page.Locator("canvas").CountAsync());
    }

    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task What_should_be_zero_is_a_tile_that_alarms_where_it_is_not(int width, ColorScheme scheme)
    {
        IPage page = await OpenAsync(HtmlReport.Create(OpenLoop(served: 500, missed: 1500)), width, scheme);

        Assert.Equal(
            ["messages/s 500", "messages/s asked for 2,000", "errors 0", "missed sends 1,500", "reconnects 0", "interruptions 2"],
            (await TilesAsync(page, string.Empty))[..6]);
        Assert.Equal(["messages/s 500", "missed sends 1,500", "interruptions 2"], await TilesAsync(page, ".alarm"));
        Assert.Equal("500 messages in 1.000 s, bound by the server", await page.Locator("h1 + p").InnerTextAsync());
        Assert.Equal(
            "Of the 400 messages due in the measured time, from when each was due",
            await page.Locator("section:has(h2:text-is('Latencies')) caption").InnerTextAsync());
        Assert.Equal("2026-11-28 20:15:00 UTC", await page.Locator("tr:has(th:text-is('started')) td").InnerTextAsync());
        Assert.Equal(width, await page.EvaluateAsync<int>("document.documentElement.scrollWidth"));
        await AssertAccessibleAsync(page);
    }

    [BrowserFact]
    public async Task Runs_of_different_settings_are_flagged_above_their_figures()
    {
        byte[] before = OpenLoop(served: 2000, missed: 0);
        byte[] after = System.Text.Encoding.UTF8.GetBytes(System.Text.Encoding.UTF8.GetString(OpenLoop(served: 500, missed: 1500))
            .Replace("\"connections\":1", "\"connections\":64", StringComparison.Ordinal));
        IPage page = await OpenAsync(HtmlReport.Compare(before, after));

        Assert.Equal(["connections differs: 1 before, 64 after."], await page.Locator(".warning li").AllInnerTextsAsync());
        Assert.Equal(1, await page.Locator(".warning + .tiles").CountAsync());
        await AssertAccessibleAsync(page);

        IPage same = await OpenAsync(HtmlReport.Compare(before, before));
        Assert.Equal(0, await same.Locator(".warning").CountAsync());
    }

    [BrowserFact]
    public async Task A_one_way_load_has_its_throughput_over_time()
    {
        const string Result =
            """
            {"schema":2,"mode":"sink","server":"tcp://127.0.0.1:6628","connections":32,"in_flight":16,"payload_bytes":64,"rate":null,
             "duration_s":3.0,"messages":6000,"errors":1,"messages_per_s":2000,"bytes_per_s":128000,"rtt_us":null,"server_us":null,
             "network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null,
             "timeline":{"start_s":[0,1,2],"seconds":[1,1,1],"messages":[1000,2000,3000],"errors":[0,1,0]}}
            """;
        IPage page = await OpenAsync(HtmlReport.Create(System.Text.Encoding.UTF8.GetBytes(Result)), 390, ColorScheme.Dark);

        Assert.Equal(["Over time", "Settings and environment"], await page.Locator("h2").AllInnerTextsAsync());
        Assert.Equal(1, await page.Locator("canvas").CountAsync());
        Assert.True(await IsDrawnAsync(page));
        await page.Locator("section:has(h2:text-is('Over time')) summary").ClickAsync();
        await Assertions.Expect(page.Locator("section:has(h2:text-is('Over time')) table.figures tbody td"))
            .ToHaveTextAsync(["1,000", "0", "2,000", "1", "3,000", "0"]);
        await AssertAccessibleAsync(page);
    }

    [BrowserTheory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_column_without_messages_is_a_gap(int empty)
    {
        int[] busy = [.. Enumerable.Range(0, 3).Where(i => i != empty)];
        IPage page = await OpenAsync(HtmlReport.Create(WithOutage(empty)));
        ILocator chart = page.GetByRole(AriaRole.Img, new PageGetByRoleOptions { Name = "P50, P99 and maximum over time" });

        Assert.Equal(0, await LinesAsync(empty));
        Assert.All(await Task.WhenAll(busy.Select(LinesAsync)), static pixels => Assert.InRange(pixels, 50, int.MaxValue));
        await page.Locator("section:has(h2:text-is('Over time')) summary").ClickAsync();
        await Assertions.Expect(page.Locator($"section:has(h2:text-is('Over time')) .figures tbody tr:nth-child({empty + 1}) td"))
            .ToHaveTextAsync(["0", "1", "-", "-", "-"]);
        await Assertions.Expect(page.Locator($"section:has(h2:text-is('Over time')) .figures tbody tr:nth-child({busy[1] + 1}) td"))
            .ToHaveTextAsync(["1,000", "0", "100.0 µs", "200.0 µs", "300.0 µs"]);

        // Of the inner part of a column.
        Task<int> LinesAsync(int column) =>
            ChartPixels.CountAsync(chart, ["c1", "c2", "c4"], (column + 0.1) / 3, (column + 0.9) / 3);
    }

    // The runs' columns are at different times: the later one's lines are drawn at the times of both.
    [BrowserFact]
    public async Task A_comparison_has_the_gaps_and_the_tables_of_both()
    {
        byte[] before = WithOutage(1);
        byte[] after = System.Text.Encoding.UTF8.GetBytes(System.Text.Encoding.UTF8.GetString(before)
            .Replace("[0,1,2]", "[0,1.001,2.002]", StringComparison.Ordinal)
            .Replace("[1,1,1]", "[1.001,1.001,1]", StringComparison.Ordinal));
        IPage page = await OpenAsync(HtmlReport.Compare(before, after));
        ILocator chart = page.GetByRole(AriaRole.Img, new PageGetByRoleOptions { Name = "P50, P99 and maximum over time" });

        Assert.Equal(0, await ChartPixels.CountAsync(chart, ["c1", "c2", "c4"], 0.36, 0.64));
        Assert.InRange(await ChartPixels.CountAsync(chart, ["c1", "c2", "c4"], 0.05, 0.3), 50, int.MaxValue);
        Assert.InRange(await ChartPixels.CountAsync(chart, ["c1", "c2", "c4"], 0.7, 0.95), 50, int.MaxValue);
        Assert.Equal(
            ["As a table, before", "As a table, after"],
            await page.Locator("section:has(h2:text-is('Over time')) summary").AllInnerTextsAsync());
    }

    [BrowserTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_one_way_load_and_one_with_latencies_are_compared(bool oneWayFirst)
    {
        const string OneWay =
            """
            {"schema":2,"mode":"sink","server":"tcp://127.0.0.1:6628","connections":1,"in_flight":1,"payload_bytes":64,"rate":null,
             "duration_s":1.0,"messages":10,"errors":0,"messages_per_s":10,"bytes_per_s":640,"rtt_us":null,"server_us":null,
             "network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null,
             "timeline":{"start_s":[0],"seconds":[1],"messages":[10],"errors":[0]}}
            """;
        byte[] first = System.Text.Encoding.UTF8.GetBytes(OneWay);
        byte[] second = System.Text.Encoding.UTF8.GetBytes(OneWay.Replace(
            "\"errors\":[0]", "\"errors\":[0],\"p50_us\":[1],\"p99_us\":[2],\"max_us\":[3],\"rows_per_octave\":8,\"heat\":[[80,10]]",
            StringComparison.Ordinal));
        IPage page = await OpenAsync(oneWayFirst ? HtmlReport.Compare(first, second) : HtmlReport.Compare(second, first));

        Assert.Contains("Over time", await page.Locator("h2").AllInnerTextsAsync());
        Assert.True(await IsDrawnAsync(page));
    }

    // A second of 2,000 messages/s.
    private static byte[] OpenLoop(int served, int missed) => System.Text.Encoding.UTF8.GetBytes(
        $$"""
        {"schema":2,"mode":"echo","server":"tcp://127.0.0.1:6628","connections":1,"in_flight":16,"payload_bytes":64,"rate":2000,
         "duration_s":1.0,"messages":{{served}},"errors":0,"messages_per_s":{{served}},"bytes_per_s":64000,
         "rtt_us":{"count":400,"min":1,"avg":2,"p50":1,"p90":3,"p95":3,"p99":3,"p999":3,"max":3,"p99_over_avg":1.5},
         "server_us":null,"network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null,
         "missed_sends":{{missed}},"reconnects":0,"interruptions":{{(missed == 0 ? 0 : 2)}},"interrupted_s":0,"bound_by":"the server",
         "started":"2026-11-28T20:15:00.1234567Z"}
        """);

    // Name and value of each.
    private static Task<string[]> TilesAsync(IPage page, string which) => page.EvaluateAsync<string[]>(
        """
        which => [...document.querySelectorAll(`.tiles li${which}`)].map(
          tile => `${tile.children[0].innerText} ${tile.children[1].innerText}`)
        """,
        which);

    // Three seconds; in one of them nothing was answered.
    private static byte[] WithOutage(int empty)
    {
        string Of(string busy, string none) => string.Join(',', Enumerable.Range(0, 3).Select(i => i == empty ? none : busy));
        return System.Text.Encoding.UTF8.GetBytes(
            $$"""
            {"schema":2,"mode":"echo","server":"tcp://127.0.0.1:6628","connections":1,"in_flight":1,"payload_bytes":64,"rate":null,
             "duration_s":3.0,"messages":2000,"errors":1,"messages_per_s":667,"bytes_per_s":42667,"rtt_us":null,"server_us":null,
             "network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null,
             "timeline":{"start_s":[0,1,2],"seconds":[1,1,1],"messages":[{{Of("1000", "0")}}],"errors":[{{Of("0", "1")}}],
             "p50_us":[{{Of("100", "0")}}],"p99_us":[{{Of("200", "0")}}],"max_us":[{{Of("300", "0")}}],"rows_per_octave":8,
             "heat":[{{Of("[80,1000]", "[]")}}] } }
            """);
    }

    // Whether every canvas has more than one color.
    private static Task<bool> IsDrawnAsync(IPage page) => page.EvaluateAsync<bool>(
        """
        [...document.querySelectorAll("canvas")].every(canvas => {
          const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return new Set(pixels).size > 3;
        })
        """);

    private static async Task AssertAccessibleAsync(IPage page)
    {
        var found = await page.RunAxe();
        Assert.Equal(string.Empty, string.Join('\n', found.Violations.Select(static v => $"{v.Id}: {v.Help}: {v.Nodes[0].Html}")));
    }

    // Two seconds of two message types and three sessions, as the writer of the statistics leaves them.
    private async Task<byte[]> MeasureAsync(int slower = 1)
    {
        var clock = new SteppedClock();
        var stats = new LatencyStats(LatencyRole.Client, typeName: static type => type == 1 ? "Move" : "Chat", time: clock);
        string directory = Path.Combine(_directory, Guid.NewGuid().ToString("N"));
        var options = new LatencyStatsOptions { OutputDirectory = directory, EnableConsoleOutput = false };
        await using var writer = new LatencyStatsWriter(stats, options, NullLogger<LatencyStatsWriter>.Instance);
        for (int i = 1; i <= 10_000; i++)
        {
            long roundTrip = (20_000 + (i * 50)) * slower;
            stats.ForType((ushort)(1 + (i % 2))).RecordRoundTrip(roundTrip, roundTrip / 10);
            stats.ForSession((ulong)(1 + (i % 3))).RecordRoundTrip(roundTrip, roundTrip / 10);
        }

        clock.Now += TimeSpan.FromSeconds(2);
        await writer.FinishAsync();
        return await File.ReadAllBytesAsync(Assert.Single(Directory.GetFiles(directory, "*.json")));
    }

    // Every message of the console and every request is a failure: a report needs nothing but itself.
    private async Task<IPage> OpenAsync(byte[] html, int width = 1280, ColorScheme scheme = ColorScheme.Light)
    {
        string path = Path.Combine(_directory, $"{Guid.NewGuid():N}.html");
        await File.WriteAllBytesAsync(path, html);
        IPage page = await chromium.Browser.NewPageAsync(new BrowserNewPageOptions
        {
            ViewportSize = new ViewportSize { Width = width, Height = 900 },
            ColorScheme = scheme,
        });
        List<string> problems = [];
        page.Console += (_, message) => problems.Add(message.Text);
        page.PageError += (_, error) => problems.Add(error);
        page.Request += (_, request) => problems.AddRange(request.Url.EndsWith(".html", StringComparison.Ordinal) ? [] : [request.Url]);
        await page.GotoAsync(new Uri(path).AbsoluteUri);
        Assert.Equal(string.Empty, string.Join('\n', problems));
        return page;
    }

    private sealed class SteppedClock : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = new(2026, 3, 4, 5, 6, 7, TimeSpan.Zero);

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override DateTimeOffset GetUtcNow() => Now;

        public override long GetTimestamp() => Now.Ticks;
    }
}
