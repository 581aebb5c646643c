using System.Diagnostics;
using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Tracing;

/// <summary>Activities of requests and one-way messages, through real sockets.</summary>
[Collection<TraceCollection>]
public sealed partial class RequestTraceTests
{
    private const ushort Outer = 0x1001;
    private const ushort Inner = 0x1002;
    private const ushort Post = 0x1003;

    [Fact]
    public async Task A_session_is_traced_from_the_next_burst_on_when_a_listener_begins()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapInline(Inner, Answer, "Inner"));
        await using FastPortClient client = await ConnectAsync(server);
        await client.RequestAsync(Inner, new byte[1]).InTimeAsync();
        using var activities = new RecordedActivities();

        await client.RequestAsync(Inner, new byte[1]).InTimeAsync();

        await activities.OneAsync(ActivityKind.Server, "Inner");
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task A_request_is_one_trace_from_the_caller_through_a_handler_to_the_next_server(bool awaitsFirst, bool beginsOnLoop)
    {
        using var activities = new RecordedActivities();
        await using TestServer next = await TestServer.StartAsync(static h => h.MapInline(Inner, Answer, "Inner"));
        await using FastPortClient onward = await ConnectAsync(next);
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(
            Outer,
            async context =>
            {
                if (awaitsFirst)
                {
                    await Task.Yield();
                }

                context.Reply(await onward.RequestAsync(Inner, context.Body));
            },
            "Outer",
            beginsOnLoop));
        await using FastPortClient client = await ConnectAsync(server);
        using Activity test = RecordedActivities.Begin();

        Assert.Equal([1, 2, 3], await client.RequestAsync(Outer, new byte[] { 1, 2, 3 }).InTimeAsync());

        Assert.Same(test, Activity.Current);
        Activity[] way =
        [
            test,
            await activities.OneAsync(ActivityKind.Client, "0x1001"),
            await activities.OneAsync(ActivityKind.Server, "Outer"),
            await activities.OneAsync(ActivityKind.Client, "0x1002"),
            await activities.OneAsync(ActivityKind.Server, "Inner"),
        ];
        Assert.All(way, activity => Assert.Equal(test.TraceId, activity.TraceId));
        Assert.All(way.Zip(way.Skip(1)), static step => Assert.Equal(step.First.SpanId, step.Second.ParentSpanId));
        Assert.Equal([false, false, true, false, true], way.Select(static activity => activity.HasRemoteParent));
        Assert.All(way, static activity => Assert.Equal(ActivityStatusCode.Unset, activity.Status));
    }

    [Fact]
    public async Task Tags_are_those_of_OpenTelemetrys_conventions()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(static h => h.MapInline(Outer, Answer, "Outer"));
        await using FastPortClient client = await ConnectAsync(server);

        await client.RequestAsync(Outer, new byte[3]).InTimeAsync();

        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x1001");
        Activity handled = await activities.OneAsync(ActivityKind.Server, "Outer");
        Assert.Equal(
            [
                ("fastport.message.type", 0x1001), ("rpc.method", "0x1001"), ("rpc.system", "fastport"), ("server.address", "127.0.0.1"),
                ("server.port", server.Endpoint.Port),
            ],
            TagsOf(sent));
        Assert.Equal(
            [
                ("fastport.message.type", 0x1001), ("network.peer.address", "127.0.0.1"),
                ("network.peer.port", handled.GetTagItem("network.peer.port")), ("rpc.method", "Outer"), ("rpc.system", "fastport"),
            ],
            TagsOf(handled));
    }

    [Theory]
    [InlineData("refuse", "Forbidden")]
    [InlineData("throw", "Internal")]
    [InlineData("large", "ReplyTooLarge")]
    public async Task A_failure_is_an_error_of_both_sides_with_the_codes_name(string how, string code)
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(Outer, (ref InlineRequest request) => Fail(ref request, how), "Inline").MapQueued(
                Inner,
                async context =>
                {
                    await Task.Yield();
                    Fail(context, how);
                },
                "Queued"),
            static o => o.Session.MaxFrameBytes = 1024);
        await using FastPortClient client = await ConnectAsync(server);

        foreach ((ushort type, string name) in new[] { (Outer, "Inline"), (Inner, "Queued") })
        {
            await Assert.ThrowsAsync<RequestFailedException>(() => client.RequestAsync(type, new byte[3]).InTimeAsync());
            Activity[] both =
                [await activities.OneAsync(ActivityKind.Client, $"0x{type:X4}"), await activities.OneAsync(ActivityKind.Server, name)];
            Assert.All(both, activity => Assert.Equal(
                (ActivityStatusCode.Error, code), (activity.Status, activity.GetTagItem("error.type"))));
        }
    }

    [Theory]
    [InlineData(1, false, false)]
    [InlineData(1, true, false)]
    [InlineData(2, false, false)]
    [InlineData(2, true, true)]
    public async Task A_listener_that_throws_is_logged_and_disturbs_no_request(int concurrency, bool awaitsFirst, bool beginsOnLoop)
    {
        using var activities = new RecordedActivities();
        activities.Stopped = static activity =>
        {
            if (activity.Kind == ActivityKind.Server)
            {
                throw new InvalidOperationException("A defect in a listener.");
            }
        };
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(Inner, Answer, "Inline").MapQueued(
                Outer,
                async context =>
                {
                    if (awaitsFirst)
                    {
                        await Task.Yield();
                    }

                    context.Reply(context.Body.Span);
                },
                "Queued",
                beginsOnLoop),
            o => o.Session.MaxConcurrency = o.Session.MaxInFlightRequests = concurrency);
        await using FastPortClient client = await ConnectAsync(server);

        for (byte i = 0; i < 5; i++)
        {
            Assert.Equal([i], await client.RequestAsync(Outer, new[] { i }).InTimeAsync());
            Assert.Equal([i], await client.RequestAsync(Inner, new[] { i }).InTimeAsync());
        }

        await Patience.UntilAsync(() => server.Log.WithId(2015).Count == 10, "each was logged");
    }

    [Fact]
    public async Task A_listener_that_throws_keeps_no_place_of_a_request_that_is_answered_later()
    {
        using var activities = new RecordedActivities();
        activities.Stopped = static activity =>
        {
            if (activity.Kind == ActivityKind.Server)
            {
                throw new InvalidOperationException("A defect in a listener.");
            }
        };
        var router = new ForwardingRouter();
        await using TestServer server = await RoutingWire.StartAsync(
            static o => o.Session.MaxInFlightRequests = 1, c => c.Router = _ => router);
        await using FastPortClient client = await ConnectAsync(server);

        for (int i = 1; i <= 2; i++)
        {
            Task relaying = client.RelayAsync("far", 1, new byte[1]);
            (await router.NextAsync()).SetResult(SendStatus.Queued);
            await relaying.InTimeAsync();
        }

        await Patience.UntilAsync(() => server.Log.WithId(2015).Count == 2, "each was logged");
    }

    [Fact]
    public async Task A_canceled_request_is_an_error_of_both_sides()
    {
        using var activities = new RecordedActivities();
        using var cancel = new CancellationTokenSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(
            Outer,
            async context =>
            {
                await cancel.CancelAsync();
                await Task.Delay(Timeout.Infinite, context.Aborted);
            },
            "Outer"));
        await using FastPortClient client = await ConnectAsync(server);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.RequestAsync(Outer, new byte[3], cancellationToken: cancel.Token).InTimeAsync());

        Activity[] both =
            [await activities.OneAsync(ActivityKind.Client, "0x1001"), await activities.OneAsync(ActivityKind.Server, "Outer")];
        Assert.All(both, static activity => Assert.Equal(
            (ActivityStatusCode.Error, "Canceled"), (activity.Status, activity.GetTagItem("error.type"))));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_one_way_message_is_sent_by_a_producer_and_processed_by_a_consumer(bool isInline)
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(h => _ = isInline
            ? h.MapInline(Post, static (ref InlineRequest _) => { }, "Post")
            : h.MapQueued(Post, static _ => ValueTask.CompletedTask, "Post"));
        await using FastPortClient client = await ConnectAsync(server);
        using Activity test = RecordedActivities.Begin();

        await client.SendAsync(Post, new byte[3]).InTimeAsync();

        Activity sent = await activities.OneAsync(ActivityKind.Producer, "0x1003");
        Activity processed = await activities.OneAsync(ActivityKind.Consumer, "Post");
        Assert.Equal((test.SpanId, sent.SpanId), (sent.ParentSpanId, processed.ParentSpanId));
        Assert.Equal(("fastport", "send", "process"), (
            sent.GetTagItem("messaging.system"), sent.GetTagItem("messaging.operation.type"),
            processed.GetTagItem("messaging.operation.type")));
    }

    [Fact]
    public async Task Try_methods_pass_the_current_context_on_and_have_no_activity_of_their_own()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(static h => h
            .MapInline(Outer, Answer, "Outer").MapInline(Post, static (ref InlineRequest _) => { }, "Post"));
        await using FastPortClient client = await ConnectAsync(server);
        Session session = client.Session!;
        using (Activity test = RecordedActivities.Begin())
        {
            Assert.Equal(SendStatus.Queued, session.TrySend(Post, new byte[3]));
            Assert.Equal(
                SendStatus.Queued, session.TryRequest(Outer, default(EmptyBody), new Ignored(), timing: true, TimeSpan.Zero, out _));

            Activity[] caused =
                [await activities.OneAsync(ActivityKind.Consumer, "Post"), await activities.OneAsync(ActivityKind.Server, "Outer")];
            Assert.All(caused, activity => Assert.Equal((test.TraceId, test.SpanId), (activity.TraceId, activity.ParentSpanId)));
        }

        Assert.DoesNotContain(activities.Ended, static a => a.Kind is ActivityKind.Client or ActivityKind.Producer);
    }

    [Fact]
    public async Task A_batch_and_lent_memory_carry_no_context_and_large_messages_do()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(static h => h
            .MapInline(Post, static (ref InlineRequest _) => { }, "Post").MapInline(Inner, static (ref InlineRequest _) => { }, "Large"));
        await using FastPortClient client = await ConnectAsync(server);
        using Activity test = RecordedActivities.Begin();

        using (SendBatch batch = client.Session!.BeginBatch())
        {
            batch.TrySend(Post, new byte[3]);
        }

        client.Session.TrySend(Inner, new byte[client.Session.MaxBodyBytes]);

        Activity large = await activities.OneAsync(ActivityKind.Consumer, "Large");
        Activity batched = await activities.OneAsync(ActivityKind.Consumer, "Post");
        Assert.Equal((test.TraceId, test.SpanId), (large.TraceId, large.ParentSpanId));
        Assert.Equal(default, batched.ParentSpanId);
        Assert.NotEqual(test.TraceId, batched.TraceId);
    }

    [Fact]
    public async Task A_server_that_asks_its_client_is_in_the_trace_too()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await TestServer.StartAsync(static h => h.MapQueued(
            Outer, static async context => context.Reply(await context.Session.RequestAsync(Inner, context.Body)), "Outer"));
        await using FastPortClient client = await ConnectAsync(server, static h => h.MapInline(Inner, Answer, "Inner"));

        await client.RequestAsync(Outer, new byte[3]).InTimeAsync();

        Activity handled = await activities.OneAsync(ActivityKind.Server, "Outer");
        Activity asked = await activities.OneAsync(ActivityKind.Client, "0x1002");
        Activity answered = await activities.OneAsync(ActivityKind.Server, "Inner");
        Assert.Equal((handled.SpanId, asked.SpanId), (asked.ParentSpanId, answered.ParentSpanId));
        Assert.Equal(handled.TraceId, answered.TraceId);
    }

    [Fact]
    public async Task What_is_not_sampled_is_passed_on_as_such_and_has_no_tags()
    {
        using var activities = new RecordedActivities(ActivitySamplingResult.PropagationData);
        await using TestServer server = await TestServer.StartAsync(static h => h.MapInline(Outer, Answer, "Outer"));
        await using FastPortClient client = await ConnectAsync(server);

        await client.RequestAsync(Outer, new byte[3]).InTimeAsync();

        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x1001");
        Activity handled = await activities.OneAsync(ActivityKind.Server, "Outer");
        Assert.Equal((sent.TraceId, sent.SpanId), (handled.TraceId, handled.ParentSpanId));
        Assert.Equal(ActivityTraceFlags.None, handled.ActivityTraceFlags);
        Assert.Empty(handled.TagObjects);
    }

    private static void Answer(ref InlineRequest request) => request.Reply(new SequenceBody(request.Body));

    private static void Fail(ref InlineRequest request, string how)
    {
        switch (how)
        {
            case "refuse":
                request.Fail(ErrorCode.Forbidden, "Not for you.");
                break;
            case "large":
                request.Reply(new byte[2000]);
                break;
            default:
                throw new InvalidOperationException("The handler fails.");
        }
    }

    private static void Fail(RequestContext context, string how)
    {
        switch (how)
        {
            case "refuse":
                throw new RequestRefusedException(ErrorCode.Forbidden, "Not for you.");
            case "large":
                context.Reply(new byte[2000]);
                break;
            default:
                throw new InvalidOperationException("The handler fails.");
        }
    }

    private static List<(string Name, object? Value)> TagsOf(Activity activity) =>
        [.. activity.TagObjects.Select(static tag => (tag.Key, tag.Value)).OrderBy(static tag => tag.Key, StringComparer.Ordinal)];

    private static async Task<FastPortClient> ConnectAsync(TestServer server, Action<MessageHandlers>? handlers = null)
    {
        var table = new MessageHandlers();
        handlers?.Invoke(table);
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint.ToString() }, table);
        await client.ConnectAsync().InTimeAsync();
        return client;
    }

    private sealed class Ignored : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message)
        {
        }
    }
}
