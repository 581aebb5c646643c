using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using FastPort.Dashboard.Live;
using FastPort.Dashboard.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The figures that pages get once a second.</summary>
public sealed class LiveTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task AStreamBeginsWithTheHistoryAndGoesOnWithFigures()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 100);
        using EventStream events = await EventStream.OpenAsync(host.Http);

        (string name, JsonElement history) = (await events.ReadAsync())!.Value;
        JsonElement figures = await events.ReadFiguresAsync(static f => Lifetime(f, 1) == 100);

        Assert.Equal("history", name);
        Assert.Equal(host.Server.Endpoints[0].ToString(), history.GetProperty("endpoints")[0].GetString());
        Assert.Equal(600, history.GetProperty("seconds").GetInt32());
        Assert.Equal("Echo", figures.GetProperty("latencies")[1].GetProperty("name").GetString());
        Assert.Equal(100, Lifetime(figures, 0));
        Assert.Equal(1, figures.GetProperty("totals").GetProperty("sessions").GetInt32());
        Assert.Equal("running", figures.GetProperty("state").GetString());
    }

    [Fact]
    public async Task FiguresAreThoseOfTheLatencyReport()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 1000);
        using EventStream events = await EventStream.OpenAsync(host.Http);
        JsonElement shown = (await events.ReadFiguresAsync(static f => Lifetime(f, 0) == 1000))
            .GetProperty("latencies")[0].GetProperty("lifetime");

        var report = host.Services.GetRequiredService<LatencyStats>().ReadTotals().All.Metrics[0].Lifetime;

        Assert.Equal(report.P50 / 1000.0, shown.GetProperty("p50").GetDouble());
        Assert.Equal(report.P99 / 1000.0, shown.GetProperty("p99").GetDouble());
        Assert.Equal(report.P999 / 1000.0, shown.GetProperty("p999").GetDouble());
        Assert.Equal(report.Max / 1000.0, shown.GetProperty("max").GetDouble());
    }

    [Fact]
    public async Task RatesAreOfTheSecond()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        feed.Stats.ForType(1).RecordHandled(2000, 500, 1000);
        time.Advance(Second);
        await feed.TakenAsync(2);
        for (int i = 0; i < 300; i++)
        {
            feed.Stats.ForType(2).RecordHandled(3000, 500, 1000);
        }

        time.Advance(Second);
        await feed.TakenAsync(3);

        JsonElement figures = await feed.LatestAsync();
        Assert.Equal(["all", "0x0001", "0x0002"], figures.GetProperty("series").EnumerateArray().Select(static s => s.GetString()));
        JsonElement points = figures.GetProperty("point").GetProperty("latencies");
        Assert.Equal(300, points[0][0].GetDouble());
        Assert.Equal(JsonValueKind.Null, points[1].ValueKind);
        Assert.Equal(300, points[2][0].GetDouble());
        Assert.InRange(points[2][1].GetDouble(), 2.99, 3.01);
    }

    [Fact]
    public async Task AThousandMessageTypesHaveTheSeriesOfTheFirst24()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        for (int type = 1; type <= 1000; type++)
        {
            feed.Stats.ForType((ushort)type).RecordHandled(2000, 500, 1000);
        }

        time.Advance(Second);
        await feed.TakenAsync(2);

        JsonElement figures = await feed.LatestAsync();
        string[] first = [.. Enumerable.Range(1, 24).Select(static type => $"0x{type:X4}")];
        Assert.Equal(["all", .. first], figures.GetProperty("series").EnumerateArray().Select(static s => s.GetString()));
        Assert.Equal(25, figures.GetProperty("latencies").GetArrayLength());
        Assert.Equal(1000, Lifetime(figures, 0));
    }

    [Fact]
    public async Task TheHistoryIsBounded()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        for (int i = 2; i <= LiveFeed.HistorySeconds + 50; i++)
        {
            time.Advance(Second);
            await feed.TakenAsync(i);
        }

        JsonElement points = (await feed.HistoryAsync()).GetProperty("points");

        Assert.Equal(LiveFeed.HistorySeconds, points.GetArrayLength());
        Assert.Equal(time.GetUtcNow().ToUnixTimeMilliseconds(), points[LiveFeed.HistorySeconds - 1].GetProperty("at").GetInt64());
    }

    [Fact]
    public async Task AMinuteForgetsWhatIsOlder()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        feed.Stats.ForType(1).RecordHandled(2000, 500, 1000);
        for (int i = 2; i < 75; i++)
        {
            time.Advance(Second);
            await feed.TakenAsync(i);
        }

        JsonElement row = (await feed.LatestAsync()).GetProperty("latencies")[1];

        Assert.Equal(0, row.GetProperty("minute").GetProperty("count").GetInt64());
        Assert.Equal(1, row.GetProperty("lifetime").GetProperty("count").GetInt64());
    }

    // The first messages of a type in the middle of a window do not begin a longer one.
    [Fact]
    public async Task TheRatesOfATypeThatBeganLaterAreOfTheSameMinute()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        for (int i = 2; i < 125; i++)
        {
            feed.Stats.ForType(1).RecordHandled(2000, 500, 1000);
            if (i > 65)
            {
                feed.Stats.ForType(2).RecordHandled(2000, 500, 1000);
            }

            time.Advance(Second);
            await feed.TakenAsync(i);
        }

        double[] rates = [.. (await feed.LatestAsync()).GetProperty("latencies").EnumerateArray()
            .Select(static row => row.GetProperty("minute").GetProperty("rate").GetDouble())];

        Assert.Equal(rates[0], rates[1] + rates[2], 0.15);
    }

    // The wall clock may be set; the times by which charts draw go on.
    [Fact]
    public async Task AStepOfTheWallClockIsNoneOfThePoints()
    {
        var time = new FakeTimeProvider { WallClockStep = TimeSpan.FromHours(5) };
        await using var feed = new Feed(time);
        await feed.TakenAsync(1);
        time.Advance(Second);
        await feed.TakenAsync(2);
        time.WallClockStep -= TimeSpan.FromHours(1);
        time.Advance(Second);
        await feed.TakenAsync(3);

        JsonElement[] points = [.. (await feed.HistoryAsync()).GetProperty("points").EnumerateArray()];

        Assert.Equal([0, 1, 2], points.Select(static point => point.GetProperty("seconds").GetDouble()));
        Assert.Equal(-3_599_000, points[2].GetProperty("at").GetInt64() - points[1].GetProperty("at").GetInt64());
    }

    [Fact]
    public async Task AReaderThatDoesNotReadIsDroppedAndCounted()
    {
        var time = new FakeTimeProvider();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<TimeProvider>(time));
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        for (int i = 0; i < 500; i++)
        {
            // Large events fill the buffers sooner.
            host.Services.GetRequiredService<LatencyStats>().AddCount($"a source with a long name, {i}", "count", static () => 1);
        }

        using var slow = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 4096 };
        await slow.ConnectAsync("127.0.0.1", host.Url.Port, TestContext.Current.CancellationToken);
        await slow.SendAsync(Encoding.ASCII.GetBytes("GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), SocketFlags.None);
        await Patience.UntilAsync(() => feed.Readers == 1, "the reader is there");

        // Seconds pass until all buffers on the way are full.
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(Second);
                return feed.ReadersDropped == 1;
            },
            "the reader is dropped");

        Assert.Equal(0, feed.Readers);
        using EventStream events = await EventStream.OpenAsync(host.Http);
        Task<JsonElement> told = events.ReadFiguresAsync(static f => f.GetProperty("readersDropped").GetInt64() == 1);
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(Second);
                return told.IsCompleted;
            },
            "the page shows it");
        await told;
    }

    [Fact]
    public async Task MoreReadersThanAllowedAreTurnedAway()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        List<EventStream> open = [];
        for (int i = 0; i < LiveFeed.MaxReaders; i++)
        {
            open.Add(await EventStream.OpenAsync(host.Http));
        }

        HttpRequestException e = await Assert.ThrowsAsync<HttpRequestException>(() => EventStream.OpenAsync(host.Http));

        Assert.Equal(System.Net.HttpStatusCode.ServiceUnavailable, e.StatusCode);
        LiveFeed feed = host.Services.GetRequiredService<LiveFeed>();
        open.ForEach(static stream => stream.Dispose());
        await Patience.UntilAsync(() => feed.Readers == 0, "all have left");
        using EventStream again = await EventStream.OpenAsync(host.Http);
    }

    [Fact]
    public async Task TheLastWarningsAreShownCutAndWithoutControls()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        ILogger logger = host.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Machine");
        for (int i = 0; i < RecentWarnings.Capacity + 20; i++)
        {
            logger.LogWarning("warning {Number}", i);
        }

        logger.LogInformation("nothing");
        logger.LogError(new InvalidOperationException("the cause"), "<b>broken</b>\r\n\u202Eesrever");
        logger.LogWarning("{Text}", new string('x', 1000));
        using EventStream events = await EventStream.OpenAsync(host.Http);

        // Some come with the history, the rest with the next figures, none twice.
        List<JsonElement> warnings = [];
        while (warnings.Count == 0 || !warnings[^1].GetProperty("text").GetString()!.StartsWith('x'))
        {
            warnings.AddRange((await events.ReadAsync())!.Value.Data.GetProperty("warnings").EnumerateArray());
        }

        warnings = warnings[^RecentWarnings.Capacity..];

        Assert.Equal("warning 22", warnings[0].GetProperty("text").GetString());
        Assert.Equal("Error", warnings[^2].GetProperty("level").GetString());
        Assert.Equal(
            "<b>broken</b>   esrever InvalidOperationException: the cause", warnings[^2].GetProperty("text").GetString());
        Assert.Equal(new string('x', RecentWarnings.MaxCharacters - 1) + "\u2026", warnings[^1].GetProperty("text").GetString());

        logger.LogWarning("one more");
        JsonElement next = await events.ReadFiguresAsync(static f => f.GetProperty("warnings").GetArrayLength() != 0);
        Assert.Equal("one more", Assert.Single(next.GetProperty("warnings").EnumerateArray()).GetProperty("text").GetString());
    }

    [Fact]
    public async Task ClosedSessionsAndRejectedConnectionsAreToldByReason()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(null, ("FastPort:MaxConnections", "1"));
        FastPortClient client = await host.ConnectAsync();
        await DashboardHost.EchoAsync(client, 1);
        await using (var refused = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = host.Server.Endpoints[0].ToString(),
            Reconnect = false,
        }))
        {
            await Assert.ThrowsAnyAsync<Exception>(async () =>
            {
                await refused.ConnectAsync(TestContext.Current.CancellationToken);
                await DashboardHost.EchoAsync(refused, 1);
            });
        }

        await client.DisposeAsync();
        using EventStream events = await EventStream.OpenAsync(host.Http);

        await events.ReadFiguresAsync(static f => Reason(f, "rejected", "ConnectionLimit") >= 1 && Reason(f, "closed", "PeerClosed") == 1);
    }

    [Fact]
    public async Task LoopsAreShownWhereThereAreSome()
    {
        await using DashboardHost portable = await DashboardHost.StartAsync(null, ("FastPort:Transport", "Sockets"));
        using EventStream without = await EventStream.OpenAsync(portable.Http);
        Assert.Equal(0, (await without.ReadFiguresAsync()).GetProperty("loops").GetArrayLength());
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Event loops are on Linux only.");

        await using DashboardHost host = await DashboardHost.StartAsync(null, ("FastPort:Loops", "2"));
        ServerLoad first = host.Server.ReadLoad();
        await Patience.UntilAsync(
            () => host.Server.ReadLoad().LoopIdleTimes.Zip(first.LoopIdleTimes).All(static pair => pair.First > pair.Second),
            "both loops have been idle");

        Assert.Equal(2, first.LoopIdleTimes.Count);
        using EventStream events = await EventStream.OpenAsync(host.Http);
        JsonElement figures = await events.ReadFiguresAsync(static f => f.GetProperty("loops").GetArrayLength() == 2);
        Assert.All(figures.GetProperty("loops").EnumerateArray(), static busy => Assert.InRange(busy.GetDouble(), 0, 1));
    }

    [Fact]
    public async Task CountsOfTheApplicationAreShown()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        LatencyStats stats = host.Services.GetRequiredService<LatencyStats>();
        long count = 0;
        stats.AddCount("pump", "read", () => Volatile.Read(ref count));
        stats.AddCount("pump", "hit_rate", () => Volatile.Read(ref count), () => 2 * Volatile.Read(ref count));
        stats.ForOperation("pump read").RecordCall(5000);
        Volatile.Write(ref count, 7);
        using EventStream events = await EventStream.OpenAsync(host.Http);

        JsonElement figures = await events.ReadFiguresAsync(static f => f.GetProperty("counts").GetArrayLength() == 2);

        Assert.Equal(7, figures.GetProperty("counts")[0].GetProperty("count").GetInt64());
        Assert.Equal(0.5, figures.GetProperty("counts")[1].GetProperty("ratio").GetDouble());
        Assert.Equal("pump read", Assert.Single(figures.GetProperty("operations").EnumerateArray()).GetProperty("name").GetString());
    }

    [Fact]
    public async Task ACountThatThrowsCostsTheCountsAndOneLine()
    {
        var time = new FakeTimeProvider();
        await using var feed = new Feed(time);
        bool isBroken = false;
        long count = 0;
        feed.Stats.AddCount("pump", "read", () => Volatile.Read(ref isBroken) ? throw new InvalidOperationException("broken") : count);
        LatencySeries series = feed.Stats.ForType(1);
        series.RecordHandled(3000, 500, 1000);
        List<JsonElement> seconds = [];
        await feed.TakenAsync(1);
        for (int second = 1; second <= 5; second++)
        {
            for (int i = 0; i < 100; i++)
            {
                series.RecordHandled(3000, 500, 1000);
            }

            count += 7;
            Volatile.Write(ref isBroken, second is 2 or 3);
            time.Advance(Second);
            await feed.TakenAsync(1 + second);
            seconds.Add(await feed.LatestAsync());
        }

        Assert.Equal([1, 0, 0, 1, 1], seconds.Select(static f => f.GetProperty("counts").GetArrayLength()));
        Assert.Equal(JsonValueKind.Null, seconds[3].GetProperty("counts")[0].GetProperty("rate").ValueKind);
        Assert.Equal(7, seconds[4].GetProperty("counts")[0].GetProperty("rate").GetDouble());
        Assert.All(
            seconds[1..], static f => Assert.Equal(100, f.GetProperty("point").GetProperty("latencies")[1][0].GetDouble()));
        Assert.Single(feed.Log.Lines);
    }

    private static long Lifetime(JsonElement figures, int row) =>
        figures.GetProperty("latencies").GetArrayLength() <= row
            ? -1 : figures.GetProperty("latencies")[row].GetProperty("lifetime").GetProperty("count").GetInt64();

    private static long Reason(JsonElement figures, string kind, string reason) =>
        figures.GetProperty("reasons").EnumerateArray()
            .Where(one => one.GetProperty("kind").GetString() == kind && one.GetProperty("reason").GetString() == reason)
            .Sum(static one => one.GetProperty("count").GetInt64());
}
