using System.Diagnostics;
using System.Text;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>The trace extension as a client of another language uses it.</summary>
[Collection<TraceCollection>]
public sealed class TraceTests
{
    private const ushort WhoAsks = 0x1000;
    private const string TraceId = "0af7651916cd43dd8448eb211c80319c";
    private const string SpanId = "b7ad6b7169203331";

    [NodeFact]
    public async Task A_request_with_the_25_bytes_is_handled_in_the_trace_of_the_node_program()
    {
        using var activities = new RecordedActivities();
        await using NodeScenario node = await NodeScenario.StartAsync(map: static handlers => handlers.MapInline(
            WhoAsks,
            static (ref InlineRequest request) =>
            {
                string body = Encoding.UTF8.GetString(request.Body);
                request.Reply(Encoding.UTF8.GetBytes($"{body} {Activity.Current!.TraceId} {Activity.Current.ParentSpanId}"));
            },
            "WhoAsks"));

        TraceResult result = await node.PlayAsync<TraceResult>(
            "trace", new { type = WhoAsks, extensions = 1, block = $"{TraceId}{SpanId}01" });

        Assert.Equal((1u, $"pump {TraceId} {SpanId}"), (result.Extensions, result.Text));
        Assert.Equal((WhoAsks, FrameFlags.Reply), (result.Reply.Type, result.Reply.Flags));
    }

    [NodeFact]
    public async Task Without_the_bit_the_25_bytes_are_a_malformed_frame()
    {
        await using NodeScenario node = await NodeScenario.StartAsync();
        using NodeProcess process = NodeProcess.Start(
            "client.mjs", "trace", $"{node.Port}",
            NodeProcess.ToJson(new { type = 0x0100, extensions = 0, block = $"{TraceId}{SpanId}01" }));

        // The connection ends without a reply to the request.
        await Assert.ThrowsAnyAsync<Exception>(process.FinishAsync<TraceResult>);
        await Patience.UntilAsync(
            () => node.Server.Counters.Snapshot().ErrorsSentWith((uint)ErrorCode.MalformedFrame) == 1, "the frame was refused");
    }

    private sealed record TraceResult(uint Extensions, PeerFrame Reply, string Text);
}
