using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

public sealed class FrameDeliveryTests
{
    [Fact]
    public async Task A_frame_may_be_cut_at_every_byte()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        FastPort.Session session = await server.SessionAsync();
        byte[] frame = Wire.Request(TestServer.Echo, 9, Wire.Bytes(30));

        for (int cut = 1; cut < frame.Length; cut++)
        {
            long before = session.Connection.BytesReceived;
            await peer.SendAsync(frame[..cut]);
            await Patience.UntilAsync(() => session.Connection.BytesReceived == before + cut, "the first part was received");
            await peer.SendAsync(frame[cut..]);
            Assert.Equal(frame[12..], (await peer.ReadFrameAsync()).Body);
        }
    }

    [Fact]
    public async Task Frames_may_come_one_byte_at_a_time()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        foreach (byte value in Wire.Request(TestServer.Echo, 1, [1, 2]).Concat(Wire.Post(TestServer.Echo, [3]))
            .Concat(Wire.Request(TestServer.Echo, 2, [4])))
        {
            await peer.SendAsync([value]);
        }

        Assert.Equal([1, 2], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([4], (await peer.ReadFrameAsync()).Body);
    }

    [Fact]
    public async Task Many_frames_of_many_sizes_in_random_pieces_are_answered_in_order()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        var random = new Random(5);
        List<byte[]> bodies = [];
        List<byte[]> frames = [];
        for (int i = 0; i < 2000; i++)
        {
            bodies.Add(Wire.Bytes(random.Next(20) == 0 ? random.Next(60_000) : random.Next(300), i));
            frames.Add(Wire.Request(TestServer.Echo, (uint)(i + 1), bodies[i]));
        }

        byte[] all = [.. frames.SelectMany(static f => f)];
        Task sending = Task.Run(async () =>
        {
            for (int at = 0; at < all.Length;)
            {
                int piece = Math.Min(all.Length - at, random.Next(3) == 0 ? random.Next(1, 20) : random.Next(1, 40_000));
                await peer.SendAsync(all[at..(at + piece)]);
                at += piece;
            }
        });
        for (int i = 0; i < bodies.Count; i++)
        {
            WireFrame reply = await peer.ReadFrameAsync();
            Assert.Equal((uint)(i + 1), reply.Correlation);
            Assert.Equal(bodies[i], reply.Body);
        }

        await sending;
        Assert.Equal(2000, (await server.SessionAsync()).MessagesReceived);
    }

    [Fact]
    public async Task The_end_of_the_stream_after_whole_frames_waits_for_the_answers()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(0x1001, async c =>
        {
            await release.Task;
            c.Reply(c.Body.Span);
        }));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1, [1]), Wire.Request(0x1001, 2, [2]), Wire.Request(TestServer.Echo, 3, [3]));
        peer.ShutdownSend();

        FastPort.Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.MessagesReceived == 3, "all requests were taken");
        release.SetResult();
        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([2], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([3], (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task No_silence_of_a_peer_that_has_ended_its_side_closes_before_the_answer()
    {
        var time = new FakeTimeProvider();
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task),
            static o => o.Session.IdleTimeout = TimeSpan.FromSeconds(60),
            h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        FastPort.Session session = await server.SessionAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1));
        peer.ShutdownSend();
        await Patience.UntilAsync(() => session.MessagesReceived == 2, "the request was received");

        // In steps, so that the end of the stream is noticed on the way.
        int seconds = 0;
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return ++seconds == 120;
            },
            "two minutes had passed");

        release.SetResult();
        WireFrame frame = await peer.ReadFrameAsync();
        while (frame.Type == Wire.Ping)
        {
            frame = await peer.ReadFrameAsync();
        }

        Assert.Equal((0x1001, Wire.Reply), (frame.Type, frame.Flags));
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task An_answer_that_waits_for_a_slow_reader_is_not_cut_off_by_the_close()
    {
        var time = new FakeTimeProvider();
        byte[] body = Wire.Bytes(12_000_000);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)), static o =>
                (o.Session.MaxFrameBytes, o.Session.SendQueueBytes) = (16_000_000, 32_000_000), h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        FastPort.Session session = await server.SessionAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1));
        peer.ShutdownSend();
        await Patience.UntilAsync(() => session.IsClosed, "the server began to close");
        time.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(11)]
    [InlineData(14)]
    public async Task The_end_of_the_stream_in_the_middle_of_a_frame_closes(int bytes)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(TestServer.Echo, 1, [1]), Wire.Request(TestServer.Echo, 2, [2, 3, 4])[..bytes]);
        peer.ShutdownSend();

        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.PeerTruncated, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_reset_ends_the_session_alone()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer other = await server.ConnectAsync();
        await other.PingAsync();
        RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();

        peer.Reset();

        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
        await other.PingAsync();
        Assert.Equal(1, server.Server.ConnectionCount);
    }
}
