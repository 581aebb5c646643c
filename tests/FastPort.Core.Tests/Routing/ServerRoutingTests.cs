using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Routing;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>What the program around the server can do by routing id and topic, with nothing switched on for peers.</summary>
public sealed class ServerRoutingTests
{
    private const ushort Push = 0x1010;

    [Fact]
    public async Task Sends_to_a_routing_id_and_says_NotFound_where_nobody_has_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        ServerRouting routing = server.Server.Routing;
        using RawPeer a = await server.ConnectAsync("werk/ü");

        Assert.Equal(SendStatus.Queued, routing.TrySendTo("werk/ü", Push, [1]));
        Assert.Equal(SendStatus.Queued, await routing.TrySendToAsync("werk/ü", Push, new SequenceBody(new([2]))));
        Assert.Equal(SendStatus.Queued, routing.RouteTo("werk/ü").TrySend(Push, [3]));
        foreach (string nobody in new[] { "werk/u", "", new string('x', 257), new string('日', 5000) })
        {
            Assert.Equal(SendStatus.NotFound, routing.TrySendTo(nobody, Push, [1]));
            Assert.Null(routing.Find(nobody));
        }

        Assert.Equal(SendStatus.NotFound, await routing.TrySendToAsync("nobody", Push, default(EmptyBody)));
        Assert.Equal(SendStatus.NotFound, routing.RouteTo("nobody").TrySend(Push, [1]));
        Assert.Throws<ArgumentException>(() => routing.RouteTo(new string('x', 257)));
        for (byte i = 1; i <= 3; i++)
        {
            WireFrame frame = await a.ReadFrameAsync();
            Assert.Equal((Push, Wire.OneWay, 0u), (frame.Type, frame.Flags, frame.Correlation));
            Assert.Equal([i], frame.Body);
        }
    }

    [Fact]
    public async Task A_session_can_be_reached_from_its_Welcome_until_its_end()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (RawPeer a = await server.ConnectAsync())
        {
            await server.SessionAsync();
            Assert.Equal(SendStatus.NotFound, server.Server.Routing.TrySendTo("a", Push, []));
            await a.SayHelloAsync("a");
            Assert.Equal(SendStatus.Queued, server.Server.Routing.TrySendTo("a", Push, []));
        }

        await server.CloseReasonAsync();
        Assert.Equal(SendStatus.NotFound, server.Server.Routing.TrySendTo("a", Push, []));
    }

    [Fact]
    public async Task A_route_survives_take_overs_and_reconnects()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.DuplicateIdentity = DuplicateIdentityPolicy.TakeOver);
        Route route = server.Server.Routing.RouteTo("a");
        Assert.Null(route.Session);
        Assert.Equal(SendStatus.NotFound, route.TrySend(Push, [0]));

        using (RawPeer first = await server.ConnectAsync("a"))
        using (RawPeer second = await server.ConnectAsync())
        {
            Assert.Equal(SendStatus.Queued, route.TrySend(Push, [1]));
            Assert.Equal([1], (await first.ReadFrameAsync()).Body);
            await second.SayHelloAsync("a");
            Assert.Same(server.Opened[1], route.Session);
            Assert.Equal(SendStatus.Queued, route.TrySend(Push, [2]));
            Assert.Equal([2], (await second.ReadFrameAsync()).Body);
        }

        await Patience.UntilAsync(() => server.Closed.Count == 2, "both were gone");
        Assert.Equal((null, SendStatus.NotFound), (route.Session, route.TrySend(Push, [0])));
        using RawPeer third = await server.ConnectAsync("a");
        Assert.Equal(SendStatus.Queued, route.TrySend(Push, [3]));
        Assert.Equal([3], (await third.ReadFrameAsync()).Body);
    }

    [Fact]
    public async Task A_take_over_ends_a_batch_with_a_status_and_the_route_leads_to_the_next()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.DuplicateIdentity = DuplicateIdentityPolicy.TakeOver);
        Route route = server.Server.Routing.RouteTo("a");
        using RawPeer first = await server.ConnectAsync("a");
        using RawPeer second = await server.ConnectAsync();
        Session before = route.Session!;

        // A batch belongs to the thread that began it: one of its own, which the take-over finds in the middle.
        using var begun = new SemaphoreSlim(0);
        using var takenOver = new SemaphoreSlim(0);
        Task<(SendStatus Flushed, SendStatus Sent)> batch = Task.Factory.StartNew(
            () => Overtaken(route.Session!, begun, takenOver), CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        await begun.WaitAsync().InTimeAsync();
        await second.SayHelloAsync("a");
        takenOver.Release();

        Assert.Equal((SendStatus.Closed, SendStatus.Closed), await batch.InTimeAsync());
        Assert.Equal(1, before.MessagesDropped);
        using (SendBatch next = route.Session!.BeginBatch())
        {
            Assert.Equal(SendStatus.Queued, next.TrySend(Push, [2]));
        }

        Assert.Equal([2], (await second.ReadFrameAsync()).Body);

        static (SendStatus Flushed, SendStatus Sent) Overtaken(Session session, SemaphoreSlim begun, SemaphoreSlim takenOver)
        {
            using SendBatch batch = session.BeginBatch();
            batch.TrySend(Push, [1]);
            begun.Release();
            takenOver.Wait();
            return (batch.Flush(), batch.TrySend(Push, [1]));
        }
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait, SendStatus.Full)]
    [InlineData(SendQueueFullPolicy.DropOneWay, SendStatus.Dropped)]
    [InlineData(SendQueueFullPolicy.Disconnect, SendStatus.NotFound)]
    public async Task A_full_target_answers_as_its_policy_says(SendQueueFullPolicy policy, SendStatus expected)
    {
        await using TestServer server = await TestServer.StartAsync(options: o =>
        {
            o.Session.SendQueueFull = policy;
            o.Session.SendQueueBytes = 32 * 1024;
        });
        using RawPeer a = await server.ConnectAsync("a", receiveBuffer: 8192);
        Route route = server.Server.Routing.RouteTo("a");
        byte[] body = new byte[8192];

        int queued = 0;
        SendStatus status;
        while ((status = queued % 2 == 0
            ? server.Server.Routing.TrySendTo("a", Push, body)
            : route.TrySend(Push, body)) == SendStatus.Queued)
        {
            queued++;
        }

        Assert.Equal(expected, status);
        if (policy == SendQueueFullPolicy.Wait)
        {
            // The kernel may find some more room by and by.
            ValueTask<SendStatus> waiting;
            while ((waiting = route.TrySendAsync(Push, new SequenceBody(new(body)))).IsCompleted)
            {
                Assert.Equal(SendStatus.Queued, await waiting);
                queued++;
            }

            for (int i = 0; i <= queued; i++)
            {
                Assert.Equal(body.Length, (await a.ReadFrameAsync()).Body.Length);
            }

            Assert.Equal(SendStatus.Queued, await waiting);
        }
    }

    [Fact]
    public async Task Who_waits_for_room_hears_NotFound_when_the_target_ends()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 32 * 1024);
        using RawPeer a = await server.ConnectAsync("a", receiveBuffer: 8192);
        byte[] body = new byte[8192];
        int full = 0;

        // The kernel may find some more room by and by.
        await Patience.UntilAsync(
            () => (full = server.Server.Routing.TrySendTo("a", Push, body) == SendStatus.Queued ? 0 : full + 1) == 20,
            "the queue stays full");

        Task<SendStatus> waiting = server.Server.Routing.TrySendToAsync("a", Push, default(EmptyBody)).AsTask();
        a.Reset();

        Assert.Equal(SendStatus.NotFound, await waiting.InTimeAsync());
    }

    [Fact]
    public async Task A_body_over_the_frame_limit_is_TooLarge()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 1024);
        using RawPeer a = await server.ConnectAsync("a");

        Assert.Equal(SendStatus.TooLarge, server.Server.Routing.TrySendTo("a", Push, new byte[1017]));
        Assert.Equal(SendStatus.Queued, server.Server.Routing.TrySendTo("a", Push, new byte[1016]));
    }

    [Fact]
    public async Task Kick_says_Goodbye_with_the_reason_and_does_not_wait_for_what_is_in_flight()
    {
        await using TestServer server = await TestServer.StartAsync(
            static handlers => handlers.MapQueued(0x1001, static context => new ValueTask(Task.Delay(-1, context.Aborted))));
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(Wire.Request(0x1001, 1));
        await a.PingAsync();

        Assert.False(server.Server.Routing.Kick("nobody", ErrorCode.Forbidden, "x"));
        Assert.True(server.Server.Routing.Kick("a", ErrorCode.Forbidden, "Zu laut."));

        WireFrame goodbye = await a.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, Wire.OneWay, 6u, "Zu laut."), (goodbye.Type, goodbye.Flags, goodbye.ErrorCode, goodbye.TextAt(2)));
        await a.ExpectEndAsync();
        a.Dispose();
        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal((CloseKind.LocalClosed, ErrorCode.Forbidden, "Zu laut."), (reason.Kind, reason.GetErrorCode(), reason.Message));
    }

    [Fact]
    public async Task The_reason_of_a_kick_stays_however_fast_the_peer_goes()
    {
        await using TestServer server = await TestServer.StartAsync();
        var there = new BlockingCollection<Session>();
        server.Server.RoutingIdTaken += there.Add;
        await using var a = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = server.Endpoint.ToString(),
            RoutingId = "a",
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(1),
        });
        await a.ConnectAsync();
        for (int i = 0; i < 200; i++)
        {
            // It says Goodbye too as soon as it hears one, and comes back; sometimes so soon that the id is still taken, and then once
            // more.
            Session? session = null;
            await Patience.UntilAsync(() => there.TryTake(out session), "a was there");
            session!.Kick(ErrorCode.Forbidden, "Go.");
            Assert.Equal("Go.", (await session.Closed.InTimeAsync()).Message);
        }
    }

    [Fact]
    public async Task A_peer_kicked_before_its_Hello_hears_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer a = await server.ConnectAsync();

        (await server.SessionAsync()).Kick(ErrorCode.Forbidden, "x");

        await a.ExpectEndAsync();
    }

    [Fact]
    public async Task The_server_publishes_and_subscribes_sessions_itself()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Routing.MaxTopicBytes = 10);
        ServerRouting routing = server.Server.Routing;
        using RawPeer a = await server.ConnectAsync("a");
        Session session = server.Opened[0];

        Assert.True(routing.Subscribe(session, "room/"));
        Assert.True(routing.Subscribe(session, "room/"));
        Assert.Equal(1, routing.Publish("room/1", 5, [1, 2]));
        Assert.Equal(1, routing.Publish("room/ü", 5, new SequenceBody(new([3]))));
        Assert.Equal(0, routing.Publish("Room/", 5, [1]));
        Assert.Throws<ArgumentException>(() => routing.Publish("room/678901", 5, []));
        Assert.Throws<ArgumentException>(() => routing.Subscribe(session, "room/678901"));
        Assert.True(routing.Unsubscribe(session, "room/"));
        Assert.False(routing.Unsubscribe(session, "room/"));
        Assert.Equal(0, routing.Publish("room/1", 5, [1]));

        WireFrame first = await a.ReadFrameAsync(), second = await a.ReadFrameAsync();
        Assert.Equivalent((Publish, Wire.OneWay, 0u, "room/1", 5UL, new byte[] { 1, 2 }, "$server"), Decode(first));
        Assert.Equivalent((Publish, Wire.OneWay, 0u, "room/ü", 5UL, new byte[] { 3 }, "$server"), Decode(second));
        await a.PingAsync();
    }

    [Fact]
    public async Task A_router_of_the_embedder_carries_further_what_is_not_found_here()
    {
        await using TestServer far = await StartAsync(static o => o.Routing.SharedTopics = [""]);
        await using TestServer near = await StartAsync(components: h => h.Router = local => new LinkedRouter(local, far.Server.Routing));
        using RawPeer a = await near.ConnectAsync("a");
        using RawPeer b = await far.ConnectAsync("b");
        await b.SubscribeAsync("x");
        await a.SubscribeAsync("x");

        await a.SendAsync(RelayRequest(1, "b", [1]));
        await a.ExpectEmptyReplyAsync(Relay, 1);
        Assert.Equal(12u, (await a.CallAsync(RelayRequest(2, "nobody", [1]))).ErrorCode);
        Assert.Equal(SendStatus.Queued, near.Server.Routing.TrySendTo("b", Push, [2]));
        Assert.Equal(SendStatus.Queued, near.Server.Routing.RouteTo("b").TrySend(Push, [3]));
        Assert.Equal(SendStatus.Queued, near.Server.Routing.TrySendTo("a", Push, [4]));
        Assert.Equal(1, far.Server.Routing.Publish("x", 0, [5]));

        WireFrame relayed = await b.ReadFrameAsync();
        Assert.Equal((Relay, "a"), (relayed.Type, relayed.TextAt(4)));
        Assert.Equal([2], (await b.ReadFrameAsync()).Body);
        Assert.Equal([3], (await b.ReadFrameAsync()).Body);
        Assert.Equal("x", (await b.ReadFrameAsync()).TextAt(1));
        Assert.Equal([4], (await a.ReadFrameAsync()).Body);
    }

    // Two servers in one process instead of two machines.
    private sealed class LinkedRouter(IMessageRouter local, ServerRouting other) : IMessageRouter
    {
        public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct
        {
            SendStatus status = local.TrySend(routingId, type, in body);
            return status == SendStatus.NotFound ? other.TrySendTo(System.Text.Encoding.UTF8.GetString(routingId), type, in body) : status;
        }

        public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct => new(TrySend(routingId, type, in body));

        public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
            local.WhenWritableAsync(routingId, cancellationToken);

        public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
            where TBody : IFrameBody, allows ref struct => local.Publish(topic, audience, type, in body, ref next);
    }
}
