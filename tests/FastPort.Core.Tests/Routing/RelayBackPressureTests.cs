using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Telemetry;
using FastPort.Transports;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>A target that reads slowly or not at all: what its sender hears, and what the server holds meanwhile.</summary>
public sealed class RelayBackPressureTests
{
    private const int Bound = 64 * 1024;
    private const int BodySize = 8 * 1024;
    private const int MaxFrame = 64 * 1024;

    // Far more than the queue of the target and the kernel's buffers hold.
    private const int Messages = 3000;

    [Theory]
    [InlineData(TransportKind.Sockets)]
    [InlineData(TransportKind.Auto)]
    public async Task With_Wait_the_sender_is_held_back_and_every_message_arrives_in_order(TransportKind transport)
    {
        await using TestServer server = await StartAsync(o => Configure(o, SendQueueFullPolicy.Wait, transport));
        using RawPeer a = await server.ConnectAsync("a", receiveBuffer: 0);
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);
        Session sender = server.Opened[0], target = server.Opened[1];

        Task sending = a.SendAsync(
            [.. Enumerable.Range(0, Messages).Select(static i => RelayRequest((uint)i + 1, "b", Wire.Bytes(BodySize, i)))]);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the sender was held back");

        // It stands still: neither end grows while the target takes nothing, and others are served.
        using RawPeer other = await server.ConnectAsync("other");
        await other.SendAsync(RelayRequest(1, "other", [1]));
        Assert.Equal(Wire.OneWay, (await other.ReadFrameAsync()).Flags);
        await other.ExpectEmptyReplyAsync(Relay, 1);

        // Senders on other threads may exceed the bound by what the ring allows for frames of the largest size.
        // Perhaps nothing at all just now: the kernel may still have taken a whole queue after the first wait.
        Assert.InRange(target.Connection.PendingBytes, 0, Bound + (3 * MaxFrame) + (64 * 1024));
        Assert.InRange(sender.Connection.BytesReceived, 1, (Messages * BodySize) / 2);
        Assert.False(sending.IsCompleted);

        // Resumed needlessly, it still waits, as soon as the kernel takes no more for the target.
        long relayed;
        do
        {
            relayed = server.Counts.Relayed;
            sender.Connection.ResumeReading();
            await other.PingAsync();
        }
        while (server.Counts.Relayed != relayed);
        Assert.InRange(relayed, 2, Messages / 2);
        Assert.False(sending.IsCompleted);

        Task answers = ExpectAnswersAsync(a);
        for (int i = 0; i < Messages; i++)
        {
            var message = Decode(await b.ReadFrameAsync());
            Assert.Equal("a", message.From);
            AssertBody(i, message.Body);
        }

        await Task.WhenAll(sending, answers).InTimeAsync();
        Assert.Equal((Messages + 1, 0, 0), (server.Counts.Relayed, server.Counts.RelaysFailed, server.Counts.FramesDropped));
    }

    [Fact]
    public async Task One_way_relays_wait_too()
    {
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.Wait));
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        Task sending = a.SendAsync([.. Enumerable.Range(0, Messages).Select(static i => RelayPost("b", Wire.Bytes(BodySize, i)))]);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the sender was held back");

        for (int i = 0; i < Messages; i++)
        {
            AssertBody(i, Decode(await b.ReadFrameAsync()).Body);
        }

        await sending.InTimeAsync();
        Assert.Equal(0, server.Counts.OneWayFailures);
    }

    [Fact]
    public async Task A_request_that_waits_too_long_is_answered_with_Timeout_and_the_sender_goes_on()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await StartAsync(
            static o =>
            {
                Configure(o, SendQueueFullPolicy.Wait);
                o.Routing.RelayTimeout = TimeSpan.FromSeconds(5);
            },
            h => h.Time = time);
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        // One after the other, as the sender is read no further behind one that waits.
        uint relays = 0;
        Task<WireFrame> answer;
        do
        {
            answer = a.CallAsync(RelayRequest(++relays, "b", Wire.Bytes(BodySize)));
            await Patience.UntilAsync(() => answer.IsCompleted || server.Counts.RelaysWaited != 0, "it was answered or waits");
        }
        while (server.Counts.RelaysWaited == 0 || answer.IsCompleted);

        time.Advance(TimeSpan.FromSeconds(4.9));
        Assert.False(answer.IsCompleted);
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return answer.IsCompleted;
            },
            "the relay was given up");

        WireFrame error = await answer;
        Assert.Equal((Relay, relays, 7u), (error.Type, error.Correlation, error.ErrorCode));
        await ExpectNobodyWaitsAsync(server.Opened[1]);
        await a.PingAsync();
        Assert.Equal((relays - 1, 1), ((uint)server.Counts.Relayed, server.Counts.RelaysFailedFor(RelayFailure.TimedOut)));
        for (uint i = 1; i < relays; i++)
        {
            AssertBodyOf(Decode(await b.ReadFrameAsync()).Body);
        }

        await a.SendAsync(RelayRequest(9999, "b", [1]));
        Assert.Equal([1], Decode(await b.ReadFrameAsync()).Body);
        await a.ExpectEmptyReplyAsync(Relay, 9999);

        static void AssertBodyOf(byte[] body) => Assert.True(Wire.Bytes(BodySize).AsSpan().SequenceEqual(body));
    }

    [Fact]
    public async Task A_one_way_relay_waits_until_its_target_takes_it()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await StartAsync(
            static o =>
            {
                Configure(o, SendQueueFullPolicy.Wait);
                o.Routing.RelayTimeout = TimeSpan.FromSeconds(1);
                o.Session.WriteTimeout = o.Session.IdleTimeout = o.Session.HeartbeatInterval = TimeSpan.Zero;
            },
            h => h.Time = time);
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        Task sending = a.SendAsync([.. Enumerable.Range(0, Messages).Select(static i => RelayPost("b", Wire.Bytes(BodySize, i)))]);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the sender was held back");

        // Several times the limit of requests.
        time.Advance(TimeSpan.FromSeconds(5));

        for (int i = 0; i < Messages; i++)
        {
            AssertBody(i, Decode(await b.ReadFrameAsync()).Body);
        }

        await sending.InTimeAsync();
        await a.PingAsync();
        Assert.Equal((0, 0), (server.Counts.RelaysFailed, server.Counts.OneWayFailures));
    }

    [Fact]
    public async Task A_sender_that_waits_hears_NotFound_when_the_target_ends()
    {
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.Wait));
        using RawPeer a = await server.ConnectAsync("a");
        RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        Task sending = a.SendAsync(
            [.. Enumerable.Range(0, Messages).Select(static i => RelayRequest((uint)i + 1, "b", Wire.Bytes(BodySize, i)))]);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the sender was held back");
        b.Reset();

        int delivered = 0, lost = 0;
        for (uint i = 1; i <= Messages; i++)
        {
            WireFrame answer = await a.ReadFrameAsync();
            Assert.Equal(i, answer.Correlation);
            _ = answer.IsError ? lost++ : delivered++;
            Assert.True(!answer.IsError || answer.ErrorCode == 12, $"The error is {answer.ErrorCode}.");
        }

        await sending.InTimeAsync();
        Assert.Equal((delivered, lost), (server.Counts.Relayed, server.Counts.RelaysFailedFor(RelayFailure.NotFound)));
        Assert.True(lost > 0 && delivered > 0, $"{delivered} delivered, {lost} lost.");
    }

    [Fact]
    public async Task A_sender_that_ends_while_it_waits_is_let_go()
    {
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.Wait));
        RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);
        Task sending = a.TrySendAsync([.. Enumerable.Range(0, Messages).SelectMany(static i => RelayPost("b", new byte[BodySize]))]);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the sender was held back");

        server.Opened[0].Abort();

        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal(CloseKind.LocalClosed, reason.Kind);
        await sending.InTimeAsync();
        a.Dispose();
        await ExpectNobodyWaitsAsync(server.Opened[1]);
    }

    [Fact]
    public async Task A_cycle_of_peers_that_read_goes_on()
    {
        // Each waits for the other's queue again and again; both read, so none waits for ever.
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.Wait));
        using RawPeer a = await server.ConnectAsync("a", receiveBuffer: 8192);
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        await Task.WhenAll(PlayAsync(a, "b"), PlayAsync(b, "a")).InTimeAsync();

        Assert.Equal(2 * Messages, server.Counts.Relayed);

        static async Task PlayAsync(RawPeer peer, string to)
        {
            Task sending = peer.SendAsync(
                [.. Enumerable.Range(0, Messages).Select(i => RelayRequest((uint)i + 1, to, new byte[BodySize]))]);
            for (int i = 0; i < 2 * Messages; i++)
            {
                Assert.False((await peer.ReadFrameAsync()).IsError);
            }

            await sending;
        }
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait, true)]
    [InlineData(SendQueueFullPolicy.Wait, false)]
    [InlineData(SendQueueFullPolicy.DropOneWay, false)]
    public async Task Whoever_waits_has_its_turn_though_others_take_all_room_at_once(SendQueueFullPolicy policy, bool isRelay)
    {
        // One event of the kernel makes far less room than half of it.
        const int LargeBound = 16 * 1024 * 1024;
        const ushort Push = 0x1001;
        byte[] body = new byte[60_000];
        await using TestServer server = await StartAsync(o =>
        {
            Configure(o, policy);
            o.Session.SendQueueBytes = LargeBound;
        });
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);
        Session target = server.Opened[1];
        await Patience.UntilAsync(() => !Refill() && target.Connection.IsSendBlocked, "the kernel took no more");

        ushort awaited = isRelay ? Relay : Wire.Ping;
        if (isRelay)
        {
            await a.SendAsync(RelayPost("b", [1]));
            await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0, "the relay waits");
        }
        else
        {
            await b.SendAsync(Wire.PingRequest(1));
            await Patience.UntilAsync(() => target.Connection.AwaitedPending >= 0, "the peer is not read");
        }

        // Half of the queue before it has room, and then all of it, with what the kernel holds; again for each time that others are there
        // first when it is woken. Without its turn it would wait for ever.
        int frames = 16 * (LargeBound / body.Length);
        for (WireFrame frame = await b.ReadFrameAsync(); frame.Type != awaited; frame = await b.ReadFrameAsync())
        {
            Refill();
            Assert.True(--frames > 0, "It has not had its turn.");
        }

        // True once something was taken.
        bool Refill()
        {
            bool any = false;
            while (target.TrySend(Push, new SequenceBody(new ReadOnlySequence<byte>(body))) == SendStatus.Queued)
            {
                any = true;
            }

            return any;
        }
    }

    [Fact]
    public async Task With_DropOneWay_the_sender_hears_Overloaded_for_exactly_what_was_dropped()
    {
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.DropOneWay));
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        Task sending = a.SendAsync(
            [.. Enumerable.Range(0, Messages).Select(static i => RelayRequest((uint)i + 1, "b", Wire.Bytes(BodySize, i)))]);
        List<int> queued = [];
        for (int i = 0; i < Messages; i++)
        {
            WireFrame answer = await a.ReadFrameAsync();
            if (!answer.IsError)
            {
                queued.Add((int)answer.Correlation - 1);
            }
            else
            {
                Assert.Equal(8u, answer.ErrorCode);
            }
        }

        await sending.InTimeAsync();
        Assert.InRange(queued.Count, 1, Messages - 1);
        foreach (int i in queued)
        {
            AssertBody(i, Decode(await b.ReadFrameAsync()).Body);
        }

        await b.PingAsync();
        Assert.Equal(Messages - queued.Count, server.Counts.RelaysFailedFor(RelayFailure.Dropped));
    }

    [Fact]
    public async Task With_Disconnect_the_target_is_closed_and_the_sender_hears_NotFound()
    {
        await using TestServer server = await StartAsync(static o => Configure(o, SendQueueFullPolicy.Disconnect));
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b", receiveBuffer: 8192);

        Task sending = a.SendAsync(
            [.. Enumerable.Range(0, Messages).Select(static i => RelayRequest((uint)i + 1, "b", new byte[BodySize]))]);
        int failed = 0;
        for (int i = 0; i < Messages; i++)
        {
            WireFrame answer = await a.ReadFrameAsync();
            failed += answer.IsError ? 1 : 0;
            Assert.True(!answer.IsError || answer.ErrorCode == 12, $"The error is {answer.ErrorCode}.");
        }

        await sending.InTimeAsync();
        Assert.InRange(failed, 1, Messages - 1);
        Assert.Equal(CloseKind.SlowConsumer, (await server.CloseReasonAsync()).Kind);
    }

    // A wait that nobody waits for would keep its sender in memory for as long as the target does not read.
    private static Task ExpectNobodyWaitsAsync(Session target) => Patience.UntilAsync(
        () => Assert.IsAssignableFrom<TransportConnection>(target.Connection).AwaitedPending < 0, "nobody waits for the target any more");

    private static void Configure(
        FastPort.FastPortServerOptions options, SendQueueFullPolicy policy, TransportKind transport = TransportKind.Auto)
    {
        options.Transport = transport;
        options.Loops = 2;
        options.Session.SendQueueBytes = Bound;
        options.Session.MaxFrameBytes = MaxFrame;
        options.Session.SendQueueFull = policy;
    }

    private static void AssertBody(int index, byte[] body) =>
        Assert.True(Wire.Bytes(BodySize, index).AsSpan().SequenceEqual(body), $"Message {index} is not the one expected.");

    private static async Task ExpectAnswersAsync(RawPeer peer)
    {
        for (uint i = 1; i <= Messages; i++)
        {
            await peer.ExpectEmptyReplyAsync(Relay, i);
        }
    }
}
