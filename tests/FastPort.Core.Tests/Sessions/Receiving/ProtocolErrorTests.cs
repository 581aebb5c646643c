using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Receiving;

/// <summary>
/// Errors after which the connection is closed: the error frame arrives, then the end of the stream, and never a reset in its place.
/// </summary>
public sealed class ProtocolErrorTests
{
    public static TheoryData<string, byte[], int> MalformedFrames => new()
    {
        { "length 0", Wire.Frame(0, 0, 0, [], length: 0)[..4], 0 },
        { "length 7", [7, 0, 0, 0], 0 },
        { "length 7 with a header", Wire.Frame(0x1000, 0, 5, [], length: 7), 0x1000 },
        { "version 0", Wire.Frame(0x1000, 0, 5, [], version: 0), 0x1000 },
        { "version 2", Wire.Frame(0x1000, 0, 5, [], version: 2), 0x1000 },
        { "flag 4", Wire.Frame(0x1000, 0x10, 5, []), 0x1000 },
        { "flag 7", Wire.Frame(0x1000, 0x80, 5, []), 0x1000 },
        { "one-way with an unknown flag", Wire.Frame(0x1000, Wire.OneWay | 0x20, 0, []), 0x1000 },
        { "error without reply", Wire.Frame(0x1000, Wire.Error, 5, []), 0x1000 },
        { "one-way error", Wire.Frame(0x1000, Wire.Error | Wire.OneWay, 5, []), 0x1000 },
        { "timing block cut short", Wire.Frame(0x1000, Wire.Reply | Wire.Timing, 5, new byte[15]), 0x1000 },
        { "request without correlation", Wire.Frame(0x1000, 0, 0, [1]), 0x1000 },
        { "timed request without correlation", Wire.Frame(0x1000, Wire.Timing, 0, [1]), 0x1000 },
    };

    [Theory]
    [MemberData(nameof(MalformedFrames))]
    public async Task Malformed_frames_get_an_error_and_the_end(string what, byte[] frame, int type)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(TestServer.Echo, 1, [42]), frame);

        Assert.Equal([42], (await peer.ReadFrameAsync()).Body);
        WireFrame error = await peer.ReadFrameAsync();
        Assert.True((type, 3, 0u) == (error.Type, error.Flags, error.Correlation), $"{what}: {error}");
        Assert.Equal(1u, error.ErrorCode);
        Assert.NotEmpty(error.TextAt(2));
        await peer.ExpectEndAsync();
        peer.Dispose();
        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal((CloseKind.ProtocolError, ErrorCode.MalformedFrame), (reason.Kind, reason.GetErrorCode()));
        Assert.Equal(1, server.Counts.ErrorsSentWith(1));
        Assert.Single(server.Log.WithId(2002));
    }

    [Fact]
    public async Task The_error_frame_arrives_although_more_input_was_sent_behind_the_bad_frame()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Frame(0x1000, 0x40, 1, []), Wire.Bytes(300_000));

        Assert.Equal(1u, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.SendAsync(Wire.Bytes(300_000));
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_length_above_the_limit_is_refused_from_its_four_bytes()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 2048);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(BitConverter.GetBytes(2049));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((0, 3, 0u, 2u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(ErrorCode.FrameTooLarge, (await server.CloseReasonAsync()).GetErrorCode());
    }

    [Fact]
    public async Task The_error_names_the_type_where_the_header_of_the_large_frame_was_read()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 2048);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Frame(0x4321, Wire.Timing, 77, [], length: uint.MaxValue));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((0x4321, 3, 0u, 2u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
    }

    [Theory]
    [InlineData(1024)]
    [InlineData(70_000)]
    public async Task A_frame_of_exactly_the_limit_is_accepted_and_answered(int limit)
    {
        await using TestServer server = await TestServer.StartAsync(options: o => o.Session.MaxFrameBytes = limit);
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = Wire.Bytes(limit - 8);

        WireFrame reply = await peer.CallAsync(Wire.Request(TestServer.Echo, 3, body, Wire.Timing));

        Assert.Equal(body, reply.Body);
        Assert.True(reply.IsTimed);
        await peer.SendAsync(Wire.Request(TestServer.Echo, 3, [.. body, 0]));
        Assert.Equal(2u, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_peer_that_reads_late_gets_every_reply_the_error_and_the_end()
    {
        var time = new FakeTimeProvider();
        byte[] body = Wire.Bytes(400_000);
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapInline(0x1001, static (ref FastPort.InlineRequest r) => r.Reply(Wire.Bytes(400_000))),
            components: h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);

        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.Frame(0x1000, 0x40, 1, []));
        FastPort.Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.IsClosed && session.Connection.PendingBytes == 0, "the kernel had everything");
        time.Advance(TimeSpan.FromSeconds(1.5));
        await server.CloseReasonAsync();

        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        Assert.Equal(1u, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task Input_is_drained_for_one_second_then_the_connection_ends()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Frame(0x1000, 0x40, 1, []));
        await peer.ReadFrameAsync();
        await peer.ExpectEndAsync();

        time.Advance(TimeSpan.FromSeconds(0.9));
        await peer.SendAsync(Wire.Bytes(1000));
        Assert.Empty(server.Closed);
        time.Advance(TimeSpan.FromSeconds(0.2));

        Assert.Equal(CloseKind.ProtocolError, (await server.CloseReasonAsync()).Kind);
    }
}
