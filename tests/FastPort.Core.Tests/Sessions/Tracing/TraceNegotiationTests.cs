using System.Diagnostics;
using FastPort.Core.Tests.Clients;
using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Tracing;

/// <summary>Who may send a trace block to whom, and what happens to one that may not be. Peers are bytes written by hand.</summary>
[Collection<TraceCollection>]
public sealed class TraceNegotiationTests
{
    private const uint MalformedFrame = 1;
    private const uint FrameTooLarge = 2;

    [Theory]
    [InlineData(0u, 0u)]
    [InlineData(1u, 1u)]
    [InlineData(0xFFFF_FFFFu, 11u)]
    [InlineData(0xFFFF_FFFEu, 10u)]
    [InlineData(0xFFFF_FFF4u, 0u)]
    public async Task A_server_sets_the_bits_that_it_knows_of_those_that_the_client_has_set(uint offered, uint agreed)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        WireFrame welcome = await peer.CallAsync(TraceWire.Hello(offered));

        Assert.Equal((Wire.Hello, Wire.Reply, (ulong)agreed), (welcome.Type, welcome.Flags, welcome.NumberAt(5)));
        Assert.Equal(agreed == 0 ? 0 : 1, welcome.CountAt(5));
    }

    [Theory]
    [InlineData(0u, false)]
    [InlineData(2u, false)]
    [InlineData(1u, true)]
    public async Task A_trace_block_is_taken_only_where_both_sides_have_agreed(uint offered, bool isTaken)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(offered);

        await peer.SendAsync(TraceWire.Request(TestServer.Echo, 7, [1, 2, 3]));

        WireFrame reply = await peer.ReadFrameAsync();
        if (isTaken)
        {
            Assert.Equivalent((TestServer.Echo, Wire.Reply, 7u), (reply.Type, reply.Flags, reply.Correlation));
            Assert.Equal([1, 2, 3], reply.Body);
            await peer.PingAsync();
        }
        else
        {
            await ExpectMalformedAsync(peer, reply);
        }
    }

    [Fact]
    public async Task Without_Hello_there_is_no_extension()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(TraceWire.Request(TestServer.Echo, 7, []));

        await ExpectMalformedAsync(peer, await peer.ReadFrameAsync());
    }

    [Fact]
    public async Task A_one_way_Hello_has_no_Welcome_and_so_agrees_on_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Post(Wire.Hello, Wire.Number(4, 1)));

        await peer.SendAsync(TraceWire.Request(TestServer.Echo, 7, []));

        await ExpectMalformedAsync(peer, await peer.ReadFrameAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_Hello_itself_has_no_trace_block(bool isHelloRequired)
    {
        await using TestServer server = await TestServer.StartAsync(options: o => o.RequireRoutingId = isHelloRequired);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(TraceWire.Request(Wire.Hello, 7, [.. Wire.Text(1, "a"), .. Wire.Number(4, 1)]));

        await ExpectMalformedAsync(peer, await peer.ReadFrameAsync());
    }

    // Flags, length, and whether it is well-formed where the extension is in force.
    [Theory]
    [InlineData(TraceWire.Trace, 33, true)]
    [InlineData(TraceWire.Trace, 32, false)]
    [InlineData(TraceWire.Trace, 8, false)]
    [InlineData(TraceWire.Trace | Wire.OneWay, 32, false)]
    [InlineData(TraceWire.Trace | Wire.Timing, 33, true)]
    [InlineData(TraceWire.Trace | Wire.Reply, 33, false)]
    [InlineData(TraceWire.Trace | Wire.Reply | Wire.Timing, 49, false)]
    [InlineData(TraceWire.Trace | Wire.Reply | Wire.Error, 33, false)]
    [InlineData(TraceWire.Trace | Wire.Error, 33, false)]
    [InlineData(TraceWire.Trace | 32, 33, false)]
    public async Task A_trace_block_is_whole_and_not_on_a_reply(byte flags, int length, bool isGood)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync();

        await peer.SendAsync(Wire.Frame(TestServer.Echo, flags, 7, new byte[length - 8]));

        WireFrame reply = await peer.ReadFrameAsync();
        if (isGood)
        {
            Assert.Equal((7u, 0), (reply.Correlation, reply.Body.Length));
        }
        else
        {
            await ExpectMalformedAsync(peer, reply);
        }
    }

    [Fact]
    public async Task A_request_with_a_trace_and_no_correlation_is_malformed()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync();

        await peer.SendAsync(TraceWire.Request(TestServer.Echo, 0, []));

        await ExpectMalformedAsync(peer, await peer.ReadFrameAsync());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_block_does_not_count_for_the_frame_limit(int tooMany)
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 1024);
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync();

        await peer.SendAsync(TraceWire.Request(TestServer.Echo, 7, Wire.Bytes(1024 - 8 + tooMany)));

        WireFrame reply = await peer.ReadFrameAsync();
        Assert.Equal(tooMany == 0 ? (7u, 1016) : (0u, reply.Body.Length), (reply.Correlation, reply.Body.Length));
        Assert.Equal(tooMany == 0 ? 0u : FrameTooLarge, reply.IsError ? reply.ErrorCode : 0);
    }

    [Fact]
    public async Task A_length_that_not_even_the_block_explains_is_refused_by_its_four_bytes()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 1024);
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync();

        await peer.SendAsync(BitConverter.GetBytes(1024 + 25 + 1));

        Assert.Equal(FrameTooLarge, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.ExpectEndAsync();
    }

    [Theory]
    [InlineData(0u, false)]
    [InlineData(0xFFFF_FFFEu, false)]
    [InlineData(1u, true)]
    [InlineData(0xFFFF_FFFFu, true)]
    public async Task A_client_offers_the_bit_and_sends_blocks_only_to_a_server_that_sets_it_too(uint welcomed, bool isAgreed)
    {
        using var activities = new RecordedActivities();
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        ScriptedFrame hello = await peer.ReadAsync();
        await peer.ReplyAsync(hello, ScriptedPeer.Encode(new WelcomeBody(1, "old", 0, 0, welcomed)));
        await connecting.InTimeAsync();
        using Activity test = RecordedActivities.Begin();

        Task<byte[]> request = client.RequestAsync(0x2000, new byte[] { 1, 2, 3 }, TimeSpan.Zero);

        ScriptedFrame frame = await peer.ReadAsync();
        await peer.ReplyAsync(frame);
        await request.InTimeAsync();
        Assert.True(HelloBody.TryRead(hello.Body, out HelloBody said));
        Assert.Equal((11u, FrameFlags.None), (said.Extensions, hello.Header.Flags));
        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x2000");
        if (isAgreed)
        {
            Assert.Equal((FrameFlags.Trace, 28), (frame.Header.Flags, frame.Body.Length));
            Assert.Equal([1, 2, 3], frame.Body[25..]);
            Assert.Equal(TraceWire.ContextOf(sent), TraceWire.ContextOf(frame.Body));
        }
        else
        {
            Assert.Equal(FrameFlags.None, frame.Header.Flags);
            Assert.Equal([1, 2, 3], frame.Body);
        }
    }

    [Fact]
    public async Task A_clients_deadline_block_is_behind_its_trace_block()
    {
        using var activities = new RecordedActivities();
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(1, "new", 0, 0, 9)));
        await connecting.InTimeAsync();
        using Activity test = RecordedActivities.Begin();

        Task<byte[]> request = client.RequestAsync(0x2000, new byte[] { 1, 2, 3 }, TimeSpan.FromMilliseconds(0x0102_0304));
        ScriptedFrame frame = await peer.ReadAsync();
        await peer.ReplyAsync(frame);
        await request.InTimeAsync();

        Assert.Equal(FrameFlags.Trace | FrameFlags.Deadline, frame.Header.Flags);
        Assert.Equal([4, 3, 2, 1, 1, 2, 3], frame.Body[25..]);
        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x2000");
        Assert.Equal(TraceWire.ContextOf(sent), TraceWire.ContextOf(frame.Body));
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    public async Task A_client_takes_a_block_only_from_a_server_that_has_set_the_bit_and_from_the_frame_after_Welcome_on(uint welcomed)
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, Reconnect = false });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        ScriptedFrame hello = await peer.ReadAsync();
        byte[] welcome = ScriptedPeer.Encode(new WelcomeBody(1, "server", 0, 0, welcomed));

        // In one piece: the client looks at the second frame before anybody waiting for the Welcome goes on.
        await peer.WriteRawAsync(
            [.. Wire.Frame(Wire.Hello, Wire.Reply, hello.Header.Correlation, welcome), .. TraceWire.Request(Wire.Ping, 9, [])]);

        ScriptedFrame answer = await peer.ReadAsync();
        Assert.Equal(
            welcomed == 1 ? (Wire.Ping, FrameFlags.Reply, 9u) : (Wire.Ping, FrameFlags.Reply | FrameFlags.Error, 0u),
            (answer.Header.Type, answer.Header.Flags, answer.Header.Correlation));
        await connecting.InTimeAsync().ContinueWith(static _ => { }, TaskScheduler.Default);
    }

    [Fact]
    public async Task A_client_without_a_listener_sends_the_frames_that_it_always_sent()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(1, "server", 0, 0, 1)));
        await connecting.InTimeAsync();
        using Activity own = new Activity("own").Start();

        Task<byte[]> request = client.RequestAsync(0x2000, new byte[] { 1, 2, 3 });

        ScriptedFrame frame = await peer.ReadAsync();
        await peer.ReplyAsync(frame);
        await request.InTimeAsync();
        Assert.Equal(FrameFlags.None, frame.Header.Flags);
        Assert.Equal([1, 2, 3], frame.Body);
    }

    [Fact]
    public async Task A_relay_and_a_publication_arrive_without_the_block()
    {
        using var activities = new RecordedActivities();
        await using TestServer server = await RoutingWire.StartAsync();
        using RawPeer sender = await server.ConnectAsync();
        using RawPeer receiver = await server.ConnectAsync();
        await sender.NegotiateAsync(routingId: "a");
        await receiver.NegotiateAsync(routingId: "b");
        await receiver.SubscribeAsync("news");

        await sender.SendAsync(TraceWire.Request(RoutingWire.Relay, 1, RoutingWire.Envelope("b", 0x1000, [1, 2, 3])));
        await sender.ExpectEmptyReplyAsync(RoutingWire.Relay, 1);
        await sender.CallAsync(TraceWire.Request(RoutingWire.Publish, 2, RoutingWire.Envelope("news", 0x1000, [4, 5])));

        Assert.Equivalent(
            (RoutingWire.Relay, Wire.OneWay, 0u, "b", 0x1000UL, new byte[] { 1, 2, 3 }, "a"),
            RoutingWire.Decode(await receiver.ReadFrameAsync()));
        Assert.Equivalent(
            (RoutingWire.Publish, Wire.OneWay, 0u, "news", 0x1000UL, new byte[] { 4, 5 }, "a"),
            RoutingWire.Decode(await receiver.ReadFrameAsync()));
        Activity relayed = await activities.OneAsync(ActivityKind.Server, "Relay");
        Assert.Equal(
            (TraceWire.TraceId, TraceWire.SpanId), (relayed.TraceId.ToString(), relayed.ParentSpanId.ToString()));
    }

    private static async Task ExpectMalformedAsync(RawPeer peer, WireFrame reply)
    {
        Assert.Equal((Wire.Reply | Wire.Error, 0u, MalformedFrame), (reply.Flags, reply.Correlation, reply.ErrorCode));
        await peer.ExpectEndAsync();
    }
}
