using System.Buffers.Binary;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>Peers that attack a server by what they compress, while an honest client is served.</summary>
public sealed class HostileCompressionTests
{
    private const int Final = 0x80, Compressed = 0x40, Continuation = 0, Binary = 2, Ping = 9, Close = 8;

    // The receive ring of the largest frame (docs/limits.md), and what a session may have beside it.
    private const int MostMemory = 3 * 1024 * 1024;

    /// <summary>What is wrong with a peer's frames, the close code of the answer, and a part of the log's sentence.</summary>
    public static TheoryData<string, int, string> Violations => new()
    {
        { "no compressed data", 1007, "cannot be inflated" },
        { "broken data in a later fragment", 1007, "cannot be inflated" },
        { "a last block", 1007, "a compressed block that says that it is the last" },
        { "a compressed control frame", 1002, "a compressed frame that does not begin a message" },
        { "a compressed continuation", 1002, "a compressed frame that does not begin a message" },
        { "another reserved bit", 1002, "the reserved bits 6" },
    };

    [Theory]
    [MemberData(nameof(Violations))]
    public async Task A_violation_has_its_code_and_is_counted(string attack, int code, string sentence)
    {
        await using AttackedServer server = await StartAsync();
        using RawPeer peer = await server.UpgradeAsync(offersCompression: true);
        Session session = await server.Server.SessionAsync(1);

        await peer.TrySendAsync([.. FramesOf(attack), .. new byte[300_000]]);

        await server.ExpectViolationAsync(peer, session, code, sentence);
    }

    // 1 : 1000. The answer at the end shows that everything was read.
    [Fact]
    public async Task A_bomb_of_messages_has_bounded_memory_and_leaves_others_alone()
    {
        await using AttackedServer server = await StartAsync();
        using RawPeer peer = await server.UpgradeAsync(offersCompression: true);
        Session session = await server.Server.SessionAsync(1);
        using var end = new DeflateEnd();
        byte[] posts = [.. Enumerable.Repeat(Wire.CancelPost(7), 500_000).SelectMany(static one => one)];
        byte[] bomb = AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(posts));
        Assert.InRange(bomb.Length, 1, posts.Length / 100);
        byte[] echo = Wire.Request(TestServer.Echo, 1, [5]);

        await peer.SendAsync(bomb);
        await peer.SendAsync(AttackedServer.Frame(Binary, Final, echo));
        Task<byte[]> answer = AttackedServer.ReadFrameAsync(peer, Binary);
        long most = 0;
        while (!answer.IsCompleted)
        {
            most = Math.Max(most, session.Connection.ReceiveMemory + session.Connection.SendMemory);
            await server.ServeHonestAsync(requests: 1);
        }

        Assert.Equal(echo.Length, (await answer).Length);
        Assert.Equal(posts.Length + echo.Length, session.Connection.BytesReceived);
        Assert.InRange(most, 0, MostMemory);
    }

    // The length of FastPort's first frame is 0.
    [Fact]
    public async Task A_bomb_of_zeros_ends_at_its_first_frame()
    {
        await using AttackedServer server = await StartAsync();
        using RawPeer peer = await server.UpgradeAsync(offersCompression: true);
        Session session = await server.Server.SessionAsync(1);
        using var end = new DeflateEnd();

        await peer.TrySendAsync(AttackedServer.Frame(Binary, Final | Compressed, end.Deflate(new byte[50_000_000])));

        Assert.Equal(
            4000 + (int)ErrorCode.MalformedFrame, BinaryPrimitives.ReadUInt16BigEndian(await AttackedServer.ReadFrameAsync(peer, Close)));
        Assert.Equal(1, server.Server.Counts.ErrorsSentWith((uint)ErrorCode.MalformedFrame));
        Assert.InRange(session.Connection.BytesReceived, 1, 1024 * 1024);
        await server.ServeHonestAsync();
    }

    [Fact]
    public async Task Inflated_bytes_count_for_the_rates()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            options: static options =>
            {
                options.Endpoints[0] = "ws://127.0.0.1:0/game";
                options.WebSocket.Compression = true;
                options.Rates.PerAddress.BytesPerSecond = 10_000;
            },
            components: components => components.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        await AttackedServer.UpgradeAsync(peer, "permessage-deflate");
        using var end = new DeflateEnd();
        byte[] post = end.Deflate(Wire.Post(TestServer.Echo, new byte[100_000]));
        Assert.InRange(post.Length, 1, 1000);

        await peer.SendAsync(AttackedServer.Frame(Binary, Final | Compressed, post));

        await Patience.UntilAsync(
            () => server.Counts.RatesExceededFor(RateScope.Address, RateResource.Bytes) == 1, "the peer is over its rate");
    }

    private static Task<AttackedServer> StartAsync() => AttackedServer.StartAsync(static options => options.WebSocket.Compression = true);

    private static byte[] FramesOf(string attack)
    {
        using var end = new DeflateEnd();
        byte[] hello = end.Deflate(Wire.HelloRequest(1));
        return attack switch
        {
            "no compressed data" => AttackedServer.Frame(Binary, Final | Compressed, [0xFF, 0xFF, 0xFF]),
            "broken data in a later fragment" =>
            [
                .. AttackedServer.Frame(Binary, Compressed, hello), .. AttackedServer.Frame(Continuation, Final, [0xFF, 0xFF, 0xFF]),
            ],

            // Of no bytes, as RFC 7692, 7.2.3.4 has one of some.
            "a last block" => AttackedServer.Frame(Binary, Final | Compressed, [0x03, 0x00, 0x00]),
            "a compressed control frame" => AttackedServer.Frame(Ping, Final | Compressed, [1]),
            "a compressed continuation" =>
                [.. AttackedServer.Frame(Binary, Compressed, hello), .. AttackedServer.Frame(Continuation, Final | Compressed, [1])],
            "another reserved bit" => AttackedServer.Frame(Binary, Final | Compressed | 0x20, hello),
            _ => throw new ArgumentException(attack, nameof(attack)),
        };
    }
}
