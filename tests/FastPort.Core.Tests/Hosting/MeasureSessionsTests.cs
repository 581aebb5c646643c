using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class MeasureSessionsTests
{
    private const ushort Slow = 0x1001;
    private const ushort Failing = 0x1002;
    private const ushort FailingInline = 0x1003;
    private const ushort Shared = 0x1004;

    private readonly LatencyStats _stats = new(LatencyRole.Server);
    private readonly TaskCompletionSource _began = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task Each_session_has_the_figures_of_its_own_messages()
    {
        await using TestServer server = await StartAsync(measure: true);
        await using FastPortClient first = await ConnectAsync(server);
        await using FastPortClient second = await ConnectAsync(server);
        await RequestAsync(first, TestServer.Echo, 3);
        await RequestAsync(second, TestServer.Echo, 5);
        await RequestAsync(second, Slow, 2);

        LatencyReport report = await ReportAsync(10);

        Assert.Equal(
            server.Opened.Select(static s => (ulong)s.Id).Zip([3L, 7L]),
            report.Sessions.OrderBy(static s => s.Key).Select(static s => (s.Key, s.LifetimeCount)));
        Assert.All(
            report.Sessions, static session =>
                Assert.All(session.Metrics, metric => Assert.Equal(session.LifetimeCount, metric.Lifetime.Count)));

        // Counted once over all, not once more for the session.
        Assert.Equal(10, report.All.LifetimeCount);
    }

    [Fact]
    public async Task Servers_with_the_same_handlers_have_each_its_own_figures()
    {
        MessageHandlers handlers = new MessageHandlers().MapInline(Shared, static (ref InlineRequest request) => request.Reply([1]));
        var later = new LatencyStats(LatencyRole.Server);
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } };
        await using var server = new FastPortServer(options, handlers, new FastPortServerComponents { LatencyStats = _stats });
        await using var other = new FastPortServer(options, handlers, new FastPortServerComponents { LatencyStats = later });
        await using var unmeasured = new FastPortServer(options, handlers);
        int messages = 0;
        foreach (FastPortServer one in (FastPortServer[])[server, other, unmeasured])
        {
            await one.StartAsync(Patience.Token);
        }

        foreach (FastPortServer one in (FastPortServer[])[server, other, unmeasured])
        {
            await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = one.Endpoints[0].ToString() });
            await client.ConnectAsync(Patience.Token);
            await RequestAsync(client, Shared, ++messages);
        }

        await Patience.UntilAsync(() => later.Read().All.LifetimeCount == 2, "the second server has recorded its messages");
        Assert.Equal(1, Assert.Single((await ReportAsync(1)).Types, static type => type.Key == Shared).LifetimeCount);
    }

    [Fact]
    public async Task Sessions_are_not_measured_unless_asked_for()
    {
        await using TestServer server = await StartAsync(measure: false);
        await using FastPortClient client = await ConnectAsync(server);
        await RequestAsync(client, TestServer.Echo, 3);

        LatencyReport report = await ReportAsync(3);

        Assert.Empty(report.Sessions);
    }

    [Fact]
    public async Task A_session_that_ended_is_in_the_report_of_its_interval_and_in_no_later_one()
    {
        await using TestServer server = await StartAsync(measure: true);
        await using (FastPortClient client = await ConnectAsync(server))
        {
            await RequestAsync(client, TestServer.Echo, 3);
            await ReportAsync(3);
        }

        await server.CloseReasonAsync();

        Assert.Equal(3, Assert.Single(_stats.CutInterval().Sessions).LifetimeCount);
        Assert.Empty(_stats.CutInterval().Sessions);
        Assert.Equal(3, _stats.Read().All.LifetimeCount);
    }

    [Theory]
    [InlineData(Failing, "throw", 1)]
    [InlineData(Failing, "refuse", 0)]
    [InlineData(FailingInline, "throw", 1)]
    [InlineData(FailingInline, "refuse", 0)]
    [InlineData(Failing, "cancel", 0)]
    public async Task A_handler_that_throws_is_an_error_of_its_type_and_its_session_and_a_refusal_is_none(
        ushort type, string how, int errors)
    {
        await using TestServer server = await StartAsync(measure: true);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(type, 1, System.Text.Encoding.UTF8.GetBytes(how)));
        if (how == "cancel")
        {
            await _began.Task.InTimeAsync();
            await peer.SendAsync(Wire.CancelPost(1));
        }
        else
        {
            Assert.True((await peer.ReadFrameAsync()).IsError);
        }

        LatencyReport report = await ReportAsync(1);

        Assert.Equal(
            (errors, errors),
            (Assert.Single(report.Types, one => one.Key == type).LifetimeErrors, Assert.Single(report.Sessions).LifetimeErrors));
    }

    [Fact]
    public async Task Without_statistics_the_option_does_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MeasureSessions = true);
        await using FastPortClient client = await ConnectAsync(server);

        await RequestAsync(client, TestServer.Echo, 1);
    }

    private static async Task<FastPortClient> ConnectAsync(TestServer server)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint.ToString() });
        await client.ConnectAsync();
        return client;
    }

    private static async Task RequestAsync(FastPortClient client, ushort type, int times)
    {
        for (int i = 0; i < times; i++)
        {
            await client.RequestAsync(type, new byte[10]).InTimeAsync();
        }
    }

    private Task<TestServer> StartAsync(bool measure) => TestServer.StartAsync(
        handlers => handlers.MapQueued(
            Slow,
            static async context =>
            {
                await Task.Yield();
                context.Reply(context.Body.Span);
            }).MapQueued(
            Failing,
            async context =>
            {
                _began.TrySetResult();
                if (context.Body.Span is [(byte)'c', ..])
                {
                    await Task.Delay(Timeout.Infinite, context.Aborted);
                }

                Fail(context.Body.Span);
            }).MapInline(
            FailingInline,
            static (ref InlineRequest request) => Fail(request.Body.FirstSpan)),
        options => options.MeasureSessions = measure,
        components => components.LatencyStats = _stats);

    private static void Fail(ReadOnlySpan<byte> how) => throw (how is [(byte)'r', ..]
        ? new RequestRefusedException(ErrorCode.Forbidden, "Not for you.")
        : new InvalidOperationException("The handler fails."));

    // A burst is recorded after its replies have gone.
    private async Task<LatencyReport> ReportAsync(long messages)
    {
        await Patience.UntilAsync(() => _stats.Read().All.LifetimeCount == messages, $"{messages} messages were recorded");
        await Patience.UntilAsync(
            () => _stats.Read() is var report
                && (report.Sessions.Count == 0 || report.Sessions.Sum(static s => s.LifetimeCount) == messages), "sessions agreed");
        return _stats.Read();
    }
}
