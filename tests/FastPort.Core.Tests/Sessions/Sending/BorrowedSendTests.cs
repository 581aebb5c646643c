using System.Collections.Concurrent;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

public sealed class BorrowedSendTests
{
    private const ushort Type = 0x1001;
    private const int Large = 64 * 1024;

    [Theory]
    [InlineData(0)]
    [InlineData(4096)]
    public async Task Copied_and_borrowed_frames_of_several_threads_arrive_whole_and_in_order(int receiveBuffer)
    {
        const int Threads = 4;
        const int Frames = 60;
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 256 * 1024);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer);
        Session session = await server.SessionAsync();
        ConcurrentBag<BorrowedBuffer> lent = [];

        Task[] sending = [.. Enumerable.Range(0, Threads).Select(thread => Task.Run(async () =>
        {
            for (int i = 0; i < Frames; i++)
            {
                byte[] body = Body(thread, i);
                SendStatus status;
                if (i % 3 == 0)
                {
                    status = await session.TrySendAsync((ushort)(Type + thread), new SequenceBody(new(body)), Patience.Token);
                }
                else
                {
                    var buffer = new BorrowedBuffer(body);
                    lent.Add(buffer);
                    while ((status = session.TrySendBorrowed(
                        (ushort)(Type + thread), buffer.Bytes, BorrowedBuffer.Release, buffer)) == SendStatus.Full)
                    {
                        await session.WhenWritableAsync(Patience.Token);
                    }
                }

                Assert.Equal(SendStatus.Queued, status);
            }
        }))];

        int[] next = new int[Threads];
        for (int i = 0; i < Threads * Frames; i++)
        {
            byte[] head = await peer.ReadBytesAsync(FrameHeader.Size);
            byte[] body = await peer.ReadBytesAsync(BitConverter.ToInt32(head) - 8);
            int thread = BitConverter.ToUInt16(head, 4) - Type;
            Assert.True(Body(thread, next[thread]++).AsSpan().SequenceEqual(body), $"Frame {i} is not what was sent.");
        }

        await Task.WhenAll(sending);
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0 && lent.All(static b => b.Releases != 0), "all was released");
        Assert.All(lent, static b => Assert.Equal(1, b.Releases));
        await peer.PingAsync();
    }

    [Fact]
    public async Task Aborting_in_the_middle_releases_everything_once_before_the_connection_is_over()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 1024 * 1024);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        List<BorrowedBuffer> lent = [];
        var refused = new BorrowedBuffer(Large);
        while (session.TrySendBorrowed(Type, refused.Bytes, BorrowedBuffer.Release, refused) == SendStatus.Queued)
        {
            lent.Add(refused);
            refused = new BorrowedBuffer(Large);
        }

        Assert.Contains(lent, static b => b.Releases == 0);
        Assert.True(session.Connection.PendingBytes >= 1024 * 1024);

        session.Abort();
        await session.Closed.InTimeAsync();

        Assert.All(lent, static b => Assert.Equal(1, b.Releases));
        Assert.Equal(0, refused.Releases);
        Assert.Equal(SendStatus.Closed, session.TrySendBorrowed(Type, refused.Bytes, BorrowedBuffer.Release, refused));
        Assert.Equal(0, refused.Releases);
    }

    [Fact]
    public async Task A_peer_that_resets_in_the_middle_has_everything_released_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        List<BorrowedBuffer> lent = [];
        for (var next = new BorrowedBuffer(Large); session.TrySendBorrowed(
            Type, next.Bytes, BorrowedBuffer.Release, next) == SendStatus.Queued; next = new BorrowedBuffer(Large))
        {
            lent.Add(next);
        }

        peer.Reset();
        await session.Closed.InTimeAsync();

        Assert.All(lent, static b => Assert.Equal(1, b.Releases));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_is_not_flushed_yet_is_released_once_by_a_close_and_by_an_abort(bool inOrder)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        byte[] sent = Wire.Bytes(Large);
        var lent = new BorrowedBuffer(Large);
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "the Welcome was booked");

        FlushDeferral deferral = session.DeferFlush();
        Assert.Equal(SendStatus.Queued, session.TrySendBorrowed(Type, lent.Bytes, BorrowedBuffer.Release, lent));
        Assert.Equal((0, Large + FrameHeader.Size), (lent.Releases, session.Connection.PendingBytes));
        var reason = new CloseReason(CloseKind.LocalClosed, "enough");
        if (inOrder)
        {
            session.Connection.Close(reason);
        }
        else
        {
            session.Connection.Abort(reason);
        }

        deferral.Dispose();
        if (inOrder)
        {
            Assert.Equal(sent, (await peer.ReadFrameAsync()).Body);
            await peer.ExpectEndAsync();
        }

        peer.Dispose();
        await session.Closed.InTimeAsync();
        Assert.Equal(1, lent.Releases);
    }

    [Fact]
    public async Task What_is_too_large_or_has_no_room_stays_with_the_caller()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o =>
            (o.Session.MaxFrameBytes, o.Session.SendQueueBytes) = (128 * 1024, 128 * 1024));
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        var large = new BorrowedBuffer(session.MaxBodyBytes + 1);

        Assert.Equal(SendStatus.TooLarge, session.TrySendBorrowed(Type, large.Bytes, BorrowedBuffer.Release, large));
        var full = new BorrowedBuffer(Large);
        while (session.TrySendBorrowed(Type, full.Bytes, BorrowedBuffer.Release, full) == SendStatus.Queued)
        {
            full = new BorrowedBuffer(Large);
        }

        Assert.Equal(SendStatus.Full, session.TrySendBorrowed(Type, full.Bytes, BorrowedBuffer.Release, full));
        Assert.Equal((0, 0), (large.Releases, full.Releases));
        Assert.Equal(Wire.Bytes(Large), full.Bytes);
    }

    [Fact]
    public async Task Borrowed_bytes_count_towards_the_capacity_of_the_send_ring()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Connection connection = (await server.SessionAsync()).Connection;
        var lent = new BorrowedBuffer(Large);

        var ring = connection.BeginWrite()!;
        byte[] most = new byte[ring.MaximumCapacity - ring.Length];
        bool tooMuch = connection.TryWriteBorrowed(new byte[most.Length + 1], BorrowedBuffer.Release, lent);
        bool all = connection.TryWriteBorrowed(most, release: null, state: null);
        bool more = connection.TryWriteBorrowed(new byte[1], BorrowedBuffer.Release, lent);
        connection.EndWrite();

        Assert.Equal((false, true, false), (tooMuch, all, more));

        // The loop may be sending by now.
        await Patience.UntilAsync(() => connection.BytesSent + connection.PendingBytes == most.Length, "all of it was counted");
        connection.Abort(new CloseReason(CloseKind.LocalClosed, "enough"));
        await connection.Closed.InTimeAsync();
        Assert.Equal(0, lent.Releases);
    }

    [Fact]
    public async Task A_small_body_is_copied_and_released_at_once()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var lent = new BorrowedBuffer(100);

        Assert.Equal(SendStatus.Queued, session.TrySendBorrowed(Type, lent.Bytes, BorrowedBuffer.Release, lent));

        Assert.Equal(1, lent.Releases);
        Assert.Equal(Wire.Bytes(100), (await peer.ReadFrameAsync()).Body);
    }

    [Fact]
    public async Task A_release_that_throws_is_logged_and_the_connection_goes_on()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        byte[] body = Wire.Bytes(Large);

        session.TrySendBorrowed(Type, body, static _ => throw new InvalidOperationException("A defect in a callback."));

        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        await Patience.UntilAsync(() => server.Log.WithId(1006).Count == 1, "the exception was logged");
        await peer.PingAsync();
    }

    private static byte[] Body(int thread, int index)
    {
        var random = new Random((thread * 1000) + index);
        int[] sizes = [0, 1, 100, (16 * 1024) - 1, 16 * 1024, random.Next(200_000), random.Next(200_000)];
        byte[] body = new byte[sizes[random.Next(sizes.Length)]];
        random.NextBytes(body);
        return body;
    }
}
