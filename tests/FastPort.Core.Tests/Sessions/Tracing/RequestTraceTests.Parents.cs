using System.Diagnostics;
using FastPort.Core.Tests.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Tracing;

// What an activity's parent is not: what has ended, what belongs to another flow, and what W3C calls invalid.
public sealed partial class RequestTraceTests
{
    [Theory]
    [InlineData(ActivitySamplingResult.None)]
    [InlineData(ActivitySamplingResult.AllDataAndRecorded)]
    public async Task What_a_flow_does_when_its_activity_has_ended_is_no_part_of_it(ActivitySamplingResult sampled)
    {
        using var activities = new RecordedActivities(sampled);
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(1, "server", 0, 0, 1)));
        await connecting.InTimeAsync();
        var ended = new TaskCompletionSource();
        Activity test = RecordedActivities.Begin();
        Task<Activity?> flow = Task.Run(async () =>
        {
            await ended.Task;
            Assert.Same(test, Activity.Current);
            Assert.Equal(SendStatus.Queued, client.Session!.TrySend(Post, new byte[3]));
            Task<byte[]> request = client.RequestAsync(Outer, new byte[3]);
            Activity? after = Activity.Current;
            await request;
            return after;
        });
        test.Stop();
        ended.SetResult();

        ScriptedFrame post = await peer.ReadAsync();
        ScriptedFrame asked = await peer.ReadAsync();
        await peer.ReplyAsync(asked);

        // Neither the ended activity nor that of the request under way is the flow's own now.
        Activity? left = await flow.InTimeAsync();
        Assert.True(left is null || left == test, $"{left?.OperationName} is current.");
        Assert.Equal(FrameFlags.OneWay, post.Header.Flags);
        if (sampled == ActivitySamplingResult.None)
        {
            Assert.Equal(FrameFlags.None, asked.Header.Flags);
        }
        else
        {
            Assert.NotEqual(test.TraceId.ToString(), TraceWire.ContextOf(asked.Body).TraceId);
        }
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task What_a_peer_asks_is_no_part_of_what_connected(TransportKind transport)
    {
        using var activities = new RecordedActivities();
        using var server = new ScriptedServer();
        using Activity test = RecordedActivities.Begin();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint, Transport = transport },
            new MessageHandlers().MapInline(Inner, Answer, "Inner").MapQueued(Outer, static _ => ValueTask.CompletedTask, "Outer"));
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();

        foreach ((ushort type, string name) in new[] { (Inner, "Inner"), (Outer, "Outer") })
        {
            await peer.WriteAsync(type, FrameFlags.None, type);
            await peer.ReadAsync();
            Activity handled = await activities.OneAsync(ActivityKind.Server, name);
            Assert.Equal(default, handled.ParentSpanId);
            Assert.NotEqual(test.TraceId, handled.TraceId);
        }
    }

    [Fact]
    public async Task A_handlers_leftover_activity_is_not_the_next_requests_parent()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(static h => h
            .MapInline(
                Outer,
                static (ref InlineRequest _) => RecordedActivities.Begin("left over"),
                "Outer")
            .MapInline(Inner, Answer, "Inner"));
        using RawPeer peer = await server.ConnectAsync();

        // Both in one burst, without a context of their own.
        await peer.SendAsync(Wire.Request(Outer, 1), Wire.Request(Inner, 2));
        await peer.ReadFrameAsync();
        await peer.ReadFrameAsync();

        Activity second = await activities.OneAsync(ActivityKind.Server, "Inner");
        Assert.Equal(default, second.ParentSpanId);
    }

    [Theory]
    [InlineData("00000000000000000000000000000000", TraceWire.SpanId)]
    [InlineData(TraceWire.TraceId, "0000000000000000")]
    public async Task A_context_that_W3C_calls_invalid_is_none(string traceId, string spanId)
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync();

        WireFrame reply = await peer.CallAsync(
            TraceWire.Request(TestServer.Echo, 1, [1, 2, 3], block: TraceWire.Block(traceId, spanId)));

        Assert.Equal([1, 2, 3], reply.Body);
        Activity handled = await activities.OneAsync(ActivityKind.Server, "TestEcho");
        Assert.Equal(default, handled.ParentSpanId);
        Assert.NotEqual(TraceWire.TraceId, handled.TraceId.ToString());
    }
}
