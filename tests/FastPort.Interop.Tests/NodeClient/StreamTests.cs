using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

public sealed class StreamTests
{
    [NodeFact]
    public async Task SinkReport_counts_frames_and_body_bytes()
    {
        int[] sizes = [.. Enumerable.Range(0, 400).Select(static i => i * 37 % 3000)];

        SinkResult result = await NodeScenario.PlayOnceAsync<SinkResult>("sink", new { sizes, last = 12_345 });

        result.Reply.AssertReply(DiagnosticType.Sink, 0);
        Assert.Equal(new SinkReportMessage("401", $"{sizes.Sum() + 12_345}"), result.Report);
        Assert.Equal(0, result.Unread);
    }

    [NodeTheory]
    [InlineData(0, 10)]
    [InlineData(1, 0)]
    [InlineData(3000, 100)]
    [InlineData(40, 65_536)]
    [InlineData(2, FrameLimits.Default - 8)]
    public async Task Source_streams_one_way_frames_and_then_the_reply(int messages, int payloadBytes)
    {
        SourceResult result = await NodeScenario.PlayOnceAsync<SourceResult>("source", new { messages, payloadBytes });

        result.Reply.AssertReply(DiagnosticType.Source, 0);
        Assert.Equal((messages, (long)messages * payloadBytes, 0, 0), (result.Frames, result.Bytes, result.Wrong, result.Late));
    }

    [NodeFact]
    public async Task Source_of_a_payload_over_the_limit_is_malformed()
    {
        SourceResult result = await NodeScenario.PlayOnceAsync<SourceResult>("source", new
        {
            messages = 1,
            payloadBytes = FrameLimits.Default - 7,
        });

        string message = result.Reply.AssertError(ErrorCode.MalformedBody, DiagnosticType.Source);
        Assert.Contains($"{FrameLimits.Default - 7}", message, StringComparison.Ordinal);
        Assert.Equal((0, 0), (result.Frames, result.Late));
    }

    private sealed record SinkReportMessage(string Messages, string Bytes);

    private sealed record SinkResult(PeerFrame Reply, SinkReportMessage Report, int Unread);

    private sealed record SourceResult(int Frames, long Bytes, int Wrong, int Late, PeerFrame Reply);
}
