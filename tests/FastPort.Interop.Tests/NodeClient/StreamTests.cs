using System.Runtime.CompilerServices;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf;
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

    [NodeFact]
    public async Task A_client_of_another_language_makes_calls_that_stream_in_any_window()
    {
        const ushort Replies = 0x1000, Requests = 0x1001, Exchange = 0x1002;
        const int Count = 1_000;
        await using NodeScenario node = await NodeScenario.StartAsync(
            static options => (options.Session.StreamWindowMessages, options.Session.StreamWindowBytes) = (7, 20),
            static handlers => handlers
                .MapStream(Replies, Echo.Parser, CountAsync)
                .MapStream(Requests, Echo.Parser, LastAsync)
                .MapStream(Exchange, Echo.Parser, EchoAsync));
        string[] numbers = [.. Enumerable.Range(0, Count).Select(static i => $"{i}")];

        CallsResult result = await node.PlayAsync<CallsResult>("streamCalls", new
        {
            replies = Replies,
            requests = Requests,
            exchange = Exchange,
            count = Count,
            window = new { messages = 10, bytes = 25 },
        });

        Assert.Equal((2u, 0), (result.Extensions, result.Unread));
        Assert.Equal(numbers, result.Replies);
        result.RepliesEnd.AssertReply(Replies, 0);
        Assert.Equal($"{Count - 1}", result.Sent);
        Assert.Equal(numbers, result.Exchanged[0]);
        Assert.Empty(result.Exchanged[1]);
        result.Refused.AssertError(ErrorCode.NotFound, Replies);
        await Patience.UntilAsync(() => node.Server.Counters.Snapshot() is { StreamsOpen: 0, StreamsOpened: 5 }, "no stream is open");
    }

    private static async IAsyncEnumerable<Echo> CountAsync(
        Echo request, StreamContext context, [EnumeratorCancellation] CancellationToken token)
    {
        await Task.Yield();
        if (!int.TryParse(request.Payload.ToStringUtf8(), out int count))
        {
            throw new RequestRefusedException(ErrorCode.NotFound, "That is no number.");
        }

        for (int i = 0; i < count; i++)
        {
            yield return new Echo { Payload = ByteString.CopyFromUtf8($"{i}") };
        }
    }

    private static async ValueTask<Echo> LastAsync(IAsyncEnumerable<Echo> requests, StreamContext context, CancellationToken token)
    {
        var last = new Echo();
        await foreach (Echo request in requests)
        {
            last = request;
        }

        return last;
    }

    private static IAsyncEnumerable<Echo> EchoAsync(IAsyncEnumerable<Echo> requests, StreamContext context, CancellationToken token) =>
        requests;

    private sealed record CallsResult(
        uint Extensions, string[] Replies, PeerFrame RepliesEnd, string Sent, string[][] Exchanged, PeerFrame Refused, int Unread);

    private sealed record SinkReportMessage(string Messages, string Bytes);

    private sealed record SinkResult(PeerFrame Reply, SinkReportMessage Report, int Unread);

    private sealed record SourceResult(int Frames, long Bytes, int Wrong, int Late, PeerFrame Reply);
}
