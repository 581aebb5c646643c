using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Protocol;
using FastPort.Protocol.Diagnostics;
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

    private static LoadMode Mode(string name) => name == "sink" ? LoadMode.Sink : LoadMode.Source;
}
