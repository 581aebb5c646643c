using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Protocol;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class OneWayLoadTests
{
    private readonly TestRun _run = new();

    [Theory]
    [InlineData("sink", 0)]
    [InlineData("sink", 64)]
    [InlineData("sink", 300_000)]
    [InlineData("source", 0)]
    [InlineData("source", 64)]
    [InlineData("source", 300_000)]
    public async Task Counts_agree_on_both_sides(string mode, int size)
    {
        LoadResult result = await _run.RunUntilAsync(TestRun.Short with { Mode = Mode(mode), Size = size }, static r => r.Messages > 0);

        Assert.Equal(0, result.Errors);
        Assert.True(result.Messages > 0);
        Assert.Equal(mode, result.Mode);
        Assert.Null(result.RoundTrip);
        Assert.Null(result.ServerTime);
        Assert.Null(result.Network);
        Assert.Null(result.PerConnection);
        Assert.Equal(result.Messages, result.Throughput!.Sum(static column => column.Messages));
        Assert.InRange(result.Throughput!.Sum(static column => column.Length.TotalSeconds), 0, result.DurationSeconds + 0.1);
        Assert.Equal(result.MessagesPerSecond * size, result.BytesPerSecond, 3);
    }

    [Fact]
    public async Task A_sink_that_counts_wrong_is_found_out()
    {
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(DiagnosticType.Sink, static (ref InlineRequest _) => { })
            .MapInline(
                DiagnosticType.SinkReport, static (ref InlineRequest request) =>
                    request.Reply(new ProtobufBody(new SinkReport { Messages = 3, Bytes = 192 })));
        await using FastPortServer server = await TestServer.StartAsync(handlers);

        LoadResult result = await _run.RunAsync(TestRun.Short with { Mode = LoadMode.Sink, Server = server.Uri(), WarmUp = TimeSpan.Zero });

        // One for each connection, and one for each that sent something in the time before the measured one.
        Assert.InRange(result.ErrorKinds[LoadErrorKind.Wrong], 2, 4);
        Assert.Equal(0, result.Messages);
    }

    [Fact]
    public async Task A_source_that_sends_too_little_is_found_out()
    {
        MessageHandlers handlers = new MessageHandlers().MapInline(DiagnosticType.Source, static (ref InlineRequest _) => { });
        await using FastPortServer server = await TestServer.StartAsync(handlers);

        LoadResult result = await _run.RunAsync(TestRun.Short with { Mode = LoadMode.Source, Server = server.Uri() });

        Assert.Equal(2, result.ErrorKinds[LoadErrorKind.Wrong]);
    }

    [Fact]
    public async Task A_report_that_is_answered_with_an_error_is_one()
    {
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(DiagnosticType.Sink, static (ref InlineRequest _) => { })
            .MapInline(DiagnosticType.SinkReport, static (ref InlineRequest request) => request.Fail(ErrorCode.Overloaded, "Busy."));
        await using FastPortServer server = await TestServer.StartAsync(handlers);

        LoadResult result = await _run.RunAsync(TestRun.Short with { Mode = LoadMode.Sink, Server = server.Uri(), WarmUp = TimeSpan.Zero });

        Assert.InRange(result.ErrorKinds[LoadErrorKind.ErrorReply], 2, 4);
        Assert.Equal(0, result.ErrorKinds[LoadErrorKind.Lost]);
    }

    [Fact]
    public async Task A_session_that_is_lost_under_a_source_is_one_error()
    {
        using var enough = new CancellationTokenSource();
        int arrived = 0;
        MessageHandlers handlers = new MessageHandlers().MapQueued(
            DiagnosticType.Source,
            async context =>
            {
                int number = Interlocked.Increment(ref arrived);
                if (number > 4)
                {
                    context.Fail(ErrorCode.ShuttingDown, "Over.");
                    return;
                }

                if (number == 4)
                {
                    context.Session.Abort();
                    await enough.CancelAsync();
                }

                await Task.Delay(Timeout.Infinite, context.Aborted);
            });
        await using FastPortServer server = await TestServer.StartAsync(handlers, configure: static o => o.Session.MaxConcurrency = 64);

        LoadResult result = await _run.RunAsync(
            TestRun.Short with
            {
                Mode = LoadMode.Source,
                Server = server.Uri(),
                Connections = 1,
                WarmUp = TimeSpan.Zero,
                Duration = TestRun.Patience,
            },
            enough.Token);

        Assert.Equal(1, result.ErrorKinds[LoadErrorKind.Lost]);
        Assert.Equal(0, result.ErrorKinds[LoadErrorKind.Wrong]);
    }

    [Theory]
    [InlineData("echo")]
    [InlineData("sink")]
    [InlineData("source")]
    public async Task A_server_that_is_gone_for_good_is_an_error_of_each_connection(string mode)
    {
        LoadSettings settings = TestRun.Short with { Mode = Mode(mode), WarmUp = TimeSpan.Zero, Duration = TestRun.Patience };
        FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapDiagnostics());
        using var enough = new CancellationTokenSource();
        var errors = new LoadErrors();
        var watch = new ConnectionWatch(NullLogger.Instance, TimeProvider.System);
        var recorder = new LoadRecorder(new LatencyStats(LatencyRole.Client, 1000), errors, measureSessions: true);
        await using ILoad load = settings.Mode switch
        {
            LoadMode.Echo => new EchoLoad(settings, server.Uri(), recorder, watch, TimeProvider.System),
            LoadMode.Sink => new SinkLoad(settings, server.Uri(), errors, watch, TimeProvider.System),
            _ => new SourceLoad(settings, server.Uri(), errors, watch, TimeProvider.System),
        };
        await load.ConnectAsync(CancellationToken.None);
        Task running = load.RunAsync(static () => { }, enough.Token).WaitAsync(TestRun.Patience);

        await server.DisposeAsync();
        await Patience.UntilAsync(() => watch.Lost == 2, "both sessions have ended");
        await enough.CancelAsync();
        await running;

        Assert.Equal(2, errors[LoadErrorKind.Disconnected]);
    }

    private static LoadMode Mode(string name) => Enum.Parse<LoadMode>(name, ignoreCase: true);
}
