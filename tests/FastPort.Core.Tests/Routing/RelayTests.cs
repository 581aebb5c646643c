using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

public sealed class RelayTests
{
    [Fact]
    public async Task A_relay_reaches_the_target_with_the_senders_routing_id_and_is_answered_empty()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("werk/ü-7");

        await a.SendAsync(RelayRequest(7, "werk/ü-7", [1, 2, 3], type: 0x1234));

        await a.ExpectEmptyReplyAsync(Relay, 7);
        Assert.Equivalent((Relay, Wire.OneWay, 0u, "werk/ü-7", 0x1234UL, new byte[] { 1, 2, 3 }, "a"), Decode(await b.ReadFrameAsync()));
        await b.PingAsync();
        Assert.Equal((1, 0), (server.Counts.Relayed, server.Counts.RelaysFailed));
    }

    [Fact]
    public async Task What_the_sender_claims_to_be_is_replaced_and_unknown_fields_do_not_pass()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        byte[] later = [.. Wire.Number(5, 300), .. Wire.Text(15, "later"), 0x31, 1, 2, 3, 4, 5, 6, 7, 8, 0x3D, 1, 2, 3, 4];

        // Twice, before and behind the rest, so that neither the first nor the last one is believed.
        await a.SendAsync(Wire.Request(Relay, 1, [.. Wire.Text(4, "boss"), .. later, .. Envelope("b", 9, [5], from: "king")]));

        await a.ExpectEmptyReplyAsync(Relay, 1);
        WireFrame relayed = await b.ReadFrameAsync();
        Assert.Equal(("a", 1, Envelope("b", 9, [5], from: "a").Length), (relayed.TextAt(4), relayed.CountAt(4), relayed.Body.Length));
    }

    [Fact]
    public async Task Who_has_no_routing_id_relays_without_from()
    {
        await using TestServer server = await StartAsync();
        using RawPeer stranger = await server.ConnectAsync();
        using RawPeer b = await server.ConnectAsync("b");

        await stranger.SendAsync(RelayRequest(1, "b", [5], from: "a"));

        await stranger.ExpectEmptyReplyAsync(Relay, 1);
        Assert.Equal(0, (await b.ReadFrameAsync()).CountAt(4));
    }

    [Fact]
    public async Task A_relay_to_oneself_comes_back()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        await a.SendAsync(RelayRequest(1, "a", []));

        WireFrame[] frames = [await a.ReadFrameAsync(), await a.ReadFrameAsync()];
        Assert.Equal([Wire.OneWay, Wire.Reply], frames.Select(static f => f.Flags));
        Assert.Equal("a", frames[0].TextAt(4));
    }

    [Theory]
    [InlineData("nobody")]
    [InlineData("")]
    [InlineData("B")]
    [InlineData("b ")]
    public async Task A_relay_to_nobody_is_NotFound(string to)
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");

        WireFrame error = await a.CallAsync(RelayRequest(3, to, [1]));

        Assert.Equal((Relay, 3, 3u, 12u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        Assert.Contains($"'{to}'", error.TextAt(2), StringComparison.Ordinal);
        Assert.Equal(1, server.Counts.RelaysFailedFor(RelayFailure.NotFound));
        await b.PingAsync();
    }

    [Fact]
    public async Task An_id_longer_than_any_can_be_is_NotFound_and_the_longest_is_found()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        string longest = new('日', 256);
        using RawPeer b = await server.ConnectAsync(longest);

        Assert.Equal(12u, (await a.CallAsync(RelayRequest(1, longest + "x", [1]))).ErrorCode);
        await a.SendAsync(RelayRequest(2, longest, [1]));
        await a.ExpectEmptyReplyAsync(Relay, 2);
        Assert.Equal(longest, (await b.ReadFrameAsync()).TextAt(1));
    }

    [Fact]
    public async Task A_target_that_has_left_is_NotFound()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using (await server.ConnectAsync("b"))
        {
        }

        await Patience.UntilAsync(() => server.Server.Routing.Find("b") is null, "b was gone");
        Assert.Equal(12u, (await a.CallAsync(RelayRequest(3, "b", [1]))).ErrorCode);
    }

    [Fact]
    public async Task A_one_way_relay_gets_no_answer_and_its_failure_is_counted()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");

        await a.SendAsync(RelayPost("b", [8]), RelayPost("nobody", [9]), Wire.Post(Relay, [0x0A]));

        await a.PingAsync();
        Assert.Equal([8], Decode(await b.ReadFrameAsync()).Body);
        Assert.Equal((1, 1), (server.Counts.OneWayFailuresWith(12), server.Counts.OneWayFailuresWith(4)));
    }

    [Fact]
    public async Task A_relay_may_ask_for_timing()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        WireFrame error = await a.CallAsync(Wire.Request(Relay, 1, Envelope("b", 0, []), Wire.Timing));

        Assert.True(error is { IsError: true, IsTimed: true, ErrorCode: 12 });
    }

    [Theory]
    [MemberData(nameof(HostileBodies))]
    public async Task A_hostile_body_is_MalformedBody_and_the_session_lives(byte[] body)
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        foreach (ushort type in new[] { Relay, Publish })
        {
            WireFrame error = await a.CallAsync(Wire.Request(type, 3, body));
            Assert.Equal((type, 3, 3u, 4u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        }

        await a.PingAsync();
    }

    public static TheoryData<byte[]> HostileBodies() => new(
        [0x0A],
        [0x0A, 0x05, 1, 2],
        [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
        [0x08, 1],
        [0x12, 1, 1],
        [0x18, 1],
        [0x20, 1],
        [0x00],
        [0x02, 1],
        [0x0B],
        [0x2C],
        [0x2F],
        [0x29, 1, 2, 3],
        [0x2D, 1, 2, 3],
        [0x10],
        [0x10, 0x80],
        [0x80],
        [0x0A, 1, 0xFF],
        [0x0A, 2, 0xC3, 0x28],
        [0x0A, 3, 0xED, 0xA0, 0x80],
        [.. Wire.Text(1, "a"), 0x1A, 0x7F],
        Envelope("a", 65_536, [1]),
        Envelope("a", uint.MaxValue, [1]),
        [.. Wire.Text(1, "a"), 0x10, .. Wire.Varint(0x1_0000_1000)]);

    [Fact]
    public async Task The_largest_type_is_relayed_and_a_one_way_message_above_it_is_a_failure()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        await a.SubscribeAsync("");

        await a.SendAsync(RelayPost("a", [1], type: 65_536), Wire.Post(Publish, Envelope("x", 65_536, [2])));
        await a.SendAsync(RelayPost("a", [3], type: 65_535), Wire.Post(Publish, Envelope("x", 65_535, [4])));

        Assert.Equal((65_535ul, 3), Seen(Decode(await a.ReadFrameAsync())));
        Assert.Equal((65_535ul, 4), Seen(Decode(await a.ReadFrameAsync())));
        Assert.Equal(2, server.Counts.OneWayFailuresWith(4));

        static (ulong Type, byte Body) Seen(
            (ushort Type, byte Flags, uint Correlation, string Address, ulong InnerType, byte[] Body, string From) message) =>
            (message.InnerType, message.Body[0]);
    }

    [Fact]
    public async Task Types_that_are_off_are_UnknownType()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer a = await server.ConnectAsync("a");

        for (ushort type = Relay; type <= Peers; type++)
        {
            WireFrame error = await a.CallAsync(Wire.Request(type, type));
            Assert.Equal((type, 3u), (error.Type, error.ErrorCode));
        }
    }

    [Theory]
    [InlineData(true, false, false)]
    [InlineData(false, true, false)]
    [InlineData(false, false, true)]
    public async Task Each_switch_switches_its_types_alone(bool relay, bool topics, bool peers)
    {
        await using TestServer server = await StartAsync(
            o => (o.Routing.Relay, o.Routing.Topics, o.Routing.Peers) = (relay, topics, peers));
        using RawPeer a = await server.ConnectAsync("a");

        bool[] on = [relay, topics, topics, topics, peers];
        for (ushort type = Relay; type <= Peers; type++)
        {
            WireFrame answer = await a.CallAsync(Wire.Request(type, type, type == Relay ? Wire.Text(1, "a") : []));
            if (type == Relay && relay)
            {
                answer = await a.ReadFrameAsync();
            }

            Assert.Equal(!on[type - Relay], answer.IsError && answer.ErrorCode == 3);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_authorizer_is_asked_for_each_type_once(bool later)
    {
        List<ushort> asked = [];
        await using TestServer server = await StartAsync(components: h => h.Authorizer = async (request, _) =>
        {
            ushort type = request.Type;
            asked.Add(type);
            if (later)
            {
                await Task.Yield();
            }

            return type != Relay && type != Subscribe && type != Unsubscribe && type != Publish && type != Peers;
        });
        using RawPeer a = await server.ConnectAsync("a");

        for (ushort type = Relay; type <= Peers; type++)
        {
            Assert.Equal(6u, (await a.CallAsync(Wire.Request(type, type))).ErrorCode);
        }

        Assert.Equal([Relay, Subscribe, Unsubscribe, Publish, Peers], asked);
    }

    [Fact]
    public async Task A_message_that_the_senders_id_makes_too_large_is_MalformedBody()
    {
        await using TestServer server = await StartAsync(static o => o.Session.MaxFrameBytes = 2000);
        using RawPeer a = await server.ConnectAsync("sender");
        using RawPeer b = await server.ConnectAsync("b");
        int head = Envelope("b", 0x1000, new byte[1000]).Length - 1000, from = Wire.Text(4, "sender").Length;

        await a.SendAsync(RelayRequest(1, "b", new byte[1992 - head - from]));
        await a.ExpectEmptyReplyAsync(Relay, 1);
        Assert.Equal(4u, (await a.CallAsync(RelayRequest(2, "b", new byte[1992 - head - from + 1]))).ErrorCode);
        Assert.Equal(4u, (await a.CallAsync(PublishRequest(3, "b", new byte[1992 - head - from + 1]))).ErrorCode);

        Assert.Equal(1992, (await b.ReadFrameAsync()).Body.Length);
        Assert.Equal(1, server.Counts.RelaysFailedFor(RelayFailure.TooLarge));
    }

    [Fact]
    public async Task Relays_cut_at_every_byte_arrive_whole()
    {
        await using TestServer server = await StartAsync();
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b");
        byte[] request = RelayRequest(1, "b", [1, 2, 3, 4, 5]);

        for (int cut = 1; cut < request.Length; cut++)
        {
            await a.SendAsync(request[..cut]);
            await a.SendAsync(request[cut..]);
            await a.ExpectEmptyReplyAsync(Relay, 1);
            Assert.Equal([1, 2, 3, 4, 5], Decode(await b.ReadFrameAsync()).Body);
        }
    }

    [Theory]
    [InlineData(Relay)]
    [InlineData(Publish)]
    public async Task Messages_keep_their_order_and_bytes_wherever_the_ring_wraps(ushort type)
    {
        const int Messages = 3000;

        // Room for all: nobody waits for a subscriber that is slow because the machine is.
        await using TestServer server = await StartAsync(static o => o.Session.SendQueueBytes = 4 * 1024 * 1024);
        using RawPeer a = await server.ConnectAsync("a");
        using RawPeer b = await server.ConnectAsync("b-with-a-name-that-takes-its-room");
        await b.SubscribeAsync("b-");
        byte[][] bodies = [.. Enumerable.Range(0, Messages).Select(static i => Wire.Bytes(i * 7919 % (i % 50 == 0 ? 40_000 : 300), i))];

        Task sending = a.SendAsync(
            [.. bodies.Select((body, i) => Wire.Request(type, (uint)i + 1, Envelope("b-with-a-name-that-takes-its-room", (uint)i, body)))]);
        Task answers = Task.Run(async () =>
        {
            for (int i = 0; i < Messages; i++)
            {
                WireFrame reply = await a.ReadFrameAsync();
                Assert.Equal((Wire.Reply, (uint)i + 1), (reply.Flags, reply.Correlation));
            }
        });
        for (int i = 0; i < Messages; i++)
        {
            var message = Decode(await b.ReadFrameAsync());
            Assert.Equal((type, "a", (ulong)i), (message.Type, message.From, message.InnerType));
            Assert.True(bodies[i].AsSpan().SequenceEqual(message.Body), $"Body {i} differs.");
        }

        await Task.WhenAll(sending, answers).InTimeAsync();
    }
}
