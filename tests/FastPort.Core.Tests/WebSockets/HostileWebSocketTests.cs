using System.Buffers.Binary;
using System.Globalization;
using System.IO.Compression;
using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>
/// Pages and clients that attack a WebSocket endpoint: each gets the documented status or close code and is counted, its memory is bounded,
/// and an honest client beside it gets all its replies.
/// </summary>
public sealed class HostileWebSocketTests
{
    private const int Final = 0x80, Compressed = 0x40;
    private const int Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10;
    private const int HalfHandshakes = 2000;

    // The receive ring of the largest frame (docs/limits.md).
    private const int MostMemory = 2 * 1024 * 1024;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    /// <summary>What is wrong with a peer's frames, the close code of the answer, and a part of the log's sentence.</summary>
    public static TheoryData<string, int, string> Violations => new()
    {
        { "compressed bomb", 1002, "no extension was agreed" },
        { "compressed control frame", 1002, "no extension was agreed" },
        { "text", 1003, "a text message" },
        { "text within a message", 1003, "a text message" },
        { "unmasked", 1002, "not masked" },
        { "unknown kind", 1002, "unknown kind 3" },
        { "length above 2^63", 1002, "above 2^63 - 1" },
        { "length in too many bytes", 1002, "fewest bytes" },
        { "control frame of 126 bytes", 1002, "a control frame of 126 bytes" },
        { "control frame in fragments", 1002, "a control frame in fragments" },
        { "continuation of nothing", 1002, "a continuation of no message" },
        { "message within a message", 1002, "before the end of the last" },
        { "close with 0", 1002, "the code 0" },
        { "close with 1005", 1002, "the code 1005" },
        { "close with 5000", 1002, "the code 5000" },
        { "close of one byte", 1002, "the code 0" },
        { "close with a reason that is not UTF-8", 1007, "not UTF-8" },
    };

    [Theory]
    [MemberData(nameof(Violations))]
    public async Task A_peer_that_violates_the_protocol_gets_the_code_and_is_counted(string attack, int code, string sentence)
    {
        await using AttackedServer server = await AttackedServer.StartAsync();
        using RawPeer peer = await server.UpgradeAsync();
        Session session = await server.Server.SessionAsync(1);

        // With more behind it than the server reads at once, which must not cost the peer its answer.
        await peer.TrySendAsync([.. FramesOf(attack), .. new byte[300_000]]);

        await server.ExpectViolationAsync(peer, session, code, sentence);
    }

    // Each is allowed. The request at the end shows that everything before it was read.
    [Theory]
    [InlineData("fragments of one byte")]
    [InlineData("fragments without data")]
    [InlineData("messages without data")]
    [InlineData("Pings")]
    [InlineData("Pongs")]
    public async Task A_flood_of_useless_frames_has_bounded_memory_and_leaves_others_alone(string attack)
    {
        await using AttackedServer server = await AttackedServer.StartAsync();
        using RawPeer peer = await server.UpgradeAsync();
        Session session = await server.Server.SessionAsync(1);
        byte[] flood = [.. Enumerable.Repeat(FramesOf(attack), 5000).SelectMany(static frames => frames)];
        byte[] echo = Wire.Request(TestServer.Echo, 1, [5]);
        long before = server.Echoes, most = 0;

        await peer.SendAsync(Frame(Binary, 0, []));
        for (int i = 0; i < 10 || server.Echoes < before + 50; i++)
        {
            await peer.SendAsync(flood);
            most = Math.Max(most, session.Connection.ReceiveMemory + session.Connection.SendMemory);
        }

        await peer.SendAsync(Frame(Continuation, Final, echo));

        Assert.Equal(echo.Length, (await AttackedServer.ReadFrameAsync(peer, Binary)).Length);
        Assert.InRange(most, 0, MostMemory);
        await Patience.UntilAsync(
            () => session.Connection.ReceiveMemory + session.Connection.SendMemory == 0, "the session holds no memory any more");
        await server.ServeHonestAsync();
    }

    [Fact]
    public async Task A_message_that_never_ends_ends_the_session_in_time()
    {
        var time = new FakeTimeProvider();
        await using AttackedServer server = await AttackedServer.StartAsync(
            static options => options.Session.FrameTimeout = Second, components => components.Time = time);
        using RawPeer peer = await server.UpgradeAsync();
        Session session = await server.Server.SessionAsync(1);

        // The beginning of an Echo of 100 KB, a byte in each fragment.
        await peer.SendAsync(Frame(Binary, 0, []));
        byte[] bytes = Wire.Request(TestServer.Echo, 1, new byte[100_000])[..1000];
        await peer.SendAsync([.. bytes.SelectMany(static one => Frame(Continuation, 0, [one]))]);
        await Patience.UntilAsync(() => session.Connection.BytesReceived == bytes.Length, "the fragments are read");
        for (int i = 0; i < 15; i++)
        {
            time.Advance(0.1 * Second);
        }

        Assert.Equal(4007, BinaryPrimitives.ReadUInt16BigEndian(await AttackedServer.ReadFrameAsync(peer, Close)));
        peer.ShutdownSend();
        Assert.Equal(CloseKind.MessageTimeout, (await server.Server.CloseReasonAsync()).Kind);
        Assert.Equal(1, server.Server.Counts.TimeoutsClosedBy(ConnectionTimeout.FrameProgress));
        await server.ServeHonestAsync();
    }

    [Theory]
    [InlineData("fragments without data")]
    [InlineData("Pings")]
    public async Task Frames_without_data_do_not_keep_a_session_that_says_nothing(string attack)
    {
        var time = new FakeTimeProvider();
        await using AttackedServer server = await AttackedServer.StartAsync(
            static options => options.Session.IdleTimeout = Second, components => components.Time = time);
        using RawPeer peer = await server.UpgradeAsync();
        await server.Server.SessionAsync(1);
        byte[] frames = FramesOf(attack);

        await peer.SendAsync(Frame(Binary, 0, []));
        for (int i = 0; i < 15; i++)
        {
            await peer.TrySendAsync(frames);
            await server.ServeHonestAsync(requests: 2);
            time.Advance(0.1 * Second);
        }

        Assert.Equal(4007, BinaryPrimitives.ReadUInt16BigEndian(await AttackedServer.ReadFrameAsync(peer, Close)));
        peer.ShutdownSend();
        Assert.Equal(CloseKind.IdleTimeout, (await server.Server.CloseReasonAsync()).Kind);
        Assert.Equal(1, server.Server.Counts.TimeoutsClosedBy(ConnectionTimeout.Idle));
        await server.ServeHonestAsync();
    }

    [Theory]
    [InlineData("fragments without data", RateResource.Messages)]
    [InlineData("messages without data", RateResource.Messages)]
    [InlineData("Pings", RateResource.Messages)]
    [InlineData("Pongs", RateResource.Messages)]
    [InlineData("fragments without data", RateResource.Bytes)]
    [InlineData("Pongs", RateResource.Bytes)]
    public async Task Frames_without_data_count_for_the_rates(string attack, RateResource resource)
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            options: options =>
            {
                options.Endpoints[0] = "ws://127.0.0.1:0/game";
                options.Session.IdleTimeout = TimeSpan.Zero;
                options.Session.HeartbeatInterval = TimeSpan.Zero;
                options.Rates.PerAddress.MessagesPerSecond = resource == RateResource.Messages ? 10 : 0;
                options.Rates.PerAddress.BytesPerSecond = resource == RateResource.Bytes ? 60 : 0;
            },
            components: components => components.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        await AttackedServer.UpgradeAsync(peer);
        Session session = await server.SessionAsync();

        await peer.SendAsync(Frame(Binary, 0, []));
        await peer.SendAsync([.. Enumerable.Repeat(FramesOf(attack), 100).SelectMany(static frames => frames)]);
        await Patience.UntilAsync(
            () => server.Counts.RatesExceededFor(RateScope.Address, resource) != 0, "the peer is over its rate");
        await peer.SendAsync(Frame(Continuation, Final, Wire.Request(TestServer.Echo, 1, [5])));
        server.Settle();

        Assert.Equal(0, session.MessagesReceived);
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(0.1 * Second);
                return session.MessagesReceived == 1;
            },
            "the rate has made up for it");
        Assert.InRange(time.Elapsed, 8 * Second, 30 * Second);
    }

    [Fact]
    public async Task Thousands_of_half_handshakes_leave_others_alone_and_end_in_time()
    {
        var time = new FakeTimeProvider();
        await using AttackedServer server = await AttackedServer.StartAsync(
            static options =>
            {
                options.MaxConnections = HalfHandshakes + 10;
                options.MaxConnectionsInStages = HalfHandshakes + 10;
                options.MaxConnectionsPerAddress = 0;
                options.StageTimeout = Second;
            },
            components => components.Time = time);
        byte[] half = Encoding.ASCII.GetBytes(AttackedServer.Request);
        var peers = new List<RawPeer>();
        try
        {
            for (int i = 0; i < HalfHandshakes; i++)
            {
                peers.Add(await server.Server.ConnectAsync());
                await peers[i].SendAsync(half);
            }

            await Patience.UntilAsync(() => server.Server.Server.ConnectionCount == HalfHandshakes + 1, "all are accepted");
            await server.ServeHonestAsync();

            for (int i = 0; i < 15; i++)
            {
                time.Advance(0.1 * Second);
            }

            // The time of a stage is counted from its beginning, which may come some moments after the connection was accepted.
            await Patience.UntilAsync(
                () =>
                {
                    time.Advance(0.01 * Second);
                    return server.Server.Counts.ConnectionsRejectedFor(ConnectionRejection.StageTimeout) == HalfHandshakes;
                },
                "all have timed out");
            foreach (RawPeer peer in peers)
            {
                await peer.ExpectGoneAsync();
            }
        }
        finally
        {
            peers.ForEach(static peer => peer.Dispose());
        }

        await server.ServeHonestAsync();
    }

    [Theory]
    [InlineData(16 * 1024, "431")]
    [InlineData(2_000_000, "431")]
    public async Task A_giant_handshake_is_refused_at_its_limit_whatever_follows(int bytes, string status)
    {
        await using AttackedServer server = await AttackedServer.StartAsync();
        using RawPeer peer = await server.Server.ConnectAsync();

        await peer.TrySendAsync(Encoding.ASCII.GetBytes($"{AttackedServer.Request}Cookie: {new string('a', bytes)}"));

        Assert.StartsWith($"HTTP/1.1 {status} ", await AttackedServer.ReadHeadAsync(peer), StringComparison.Ordinal);
        await Patience.UntilAsync(
            () => server.Server.Counts.ConnectionsRejectedFor(ConnectionRejection.WebSocketRefused) == 1, "the connection is rejected");
        await server.ServeHonestAsync();
    }

    private static byte[] FramesOf(string attack) => attack switch
    {
        "compressed bomb" => Frame(Binary, Final | Compressed, Deflated(1_000_000)),
        "compressed control frame" => Frame(Ping, Final | Compressed, [1]),
        "text" => Frame(Text, Final, "hello"u8.ToArray()),
        "text within a message" => [.. Frame(Binary, 0, [1]), .. Frame(Text, 0, [1])],
        "unmasked" => [Final | Binary, 1, 7],
        "unknown kind" => Frame(3, Final, [1]),
        "length above 2^63" => [Final | Binary, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        "length in too many bytes" => [Final | Binary, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        "control frame of 126 bytes" => Frame(Ping, Final, new byte[126]),
        "control frame in fragments" => Frame(Ping, 0, [1]),
        "continuation of nothing" => Frame(Continuation, Final, [1]),
        "message within a message" => [.. Frame(Binary, 0, [1]), .. Frame(Binary, 0, [1])],
        "close of one byte" => Frame(Close, Final, [1]),
        "close with a reason that is not UTF-8" => Frame(Close, Final, [.. Code("1000"), 0xC0, 0x80]),
        _ when attack.StartsWith("close with ", StringComparison.Ordinal) => Frame(Close, Final, Code(attack["close with ".Length..])),

        // A Cancel for no request: it has no reply that would have to be read.
        "fragments of one byte" => [.. Wire.CancelPost(7).SelectMany(static one => Frame(Continuation, 0, [one]))],
        "fragments without data" => Frame(Continuation, 0, []),
        "messages without data" => [.. Frame(Continuation, Final, []), .. Frame(Binary, 0, [])],
        "Pings" => Frame(Ping, Final, new byte[125]),
        "Pongs" => Frame(Pong, Final, []),
        _ => throw new ArgumentException(attack, nameof(attack)),
    };

    private static byte[] Code(string code)
    {
        byte[] bytes = new byte[2];
        BinaryPrimitives.WriteUInt16BigEndian(bytes, ushort.Parse(code, CultureInfo.InvariantCulture));
        return bytes;
    }

    private static byte[] Frame(int opcode, int flags, byte[] payload) => AttackedServer.Frame(opcode, flags, payload);

    private static byte[] Deflated(int zeros)
    {
        using var bytes = new MemoryStream();
        using (var deflate = new DeflateStream(bytes, CompressionLevel.Optimal, leaveOpen: true))
        {
            deflate.Write(new byte[zeros]);
        }

        return bytes.ToArray();
    }
}
