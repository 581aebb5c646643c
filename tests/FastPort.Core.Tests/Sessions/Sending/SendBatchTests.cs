using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Sessions.Sending;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

public sealed class SendBatchTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    [InlineData(20_000)]
    [InlineData(70_000)]
    [InlineData(FrameOutput.BatchChunk - FrameHeader.Size)]
    [InlineData(FrameOutput.BatchChunk - FrameHeader.Size + 1)]
    [InlineData(200_000)]
    public async Task A_batch_keeps_its_order_whatever_the_size_of_its_messages(int size)
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 16 * 1024 * 1024);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        byte[][] bodies = [.. Enumerable.Range(0, 40).Select(i => Wire.Bytes(i % 3 == 0 ? size : size / 2, i + 1))];

        Assert.Equal(SendStatus.Queued, session.TrySend(0x1001, [1]));
        Send(session, bodies);
        Assert.Equal(SendStatus.Queued, session.TrySend(0x1003, [3]));

        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        foreach (byte[] body in bodies)
        {
            WireFrame frame = await peer.ReadFrameAsync();
            Assert.Equal((0x1002, Wire.OneWay), (frame.Type, frame.Flags));
            Assert.Equal(body, frame.Body);
        }

        Assert.Equal([3], (await peer.ReadFrameAsync()).Body);

        // The Welcome was one more.
        Assert.Equal(43, session.MessagesSent);
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent and booked");
    }

    [Fact]
    public async Task A_batch_that_has_ended_throws_and_leaves_the_next_one_alone()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        Assert.Equal((typeof(ObjectDisposedException), typeof(ObjectDisposedException)), UseAfterItsEnd(session));

        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([2], (await peer.ReadFrameAsync()).Body);

        static (Type? Send, Type? Flush) UseAfterItsEnd(Session session)
        {
            SendBatch ended = session.BeginBatch();
            ended.TrySend(0x1001, [1]);
            ended.Dispose();

            // The next one is made of the same parts.
            using SendBatch next = session.BeginBatch();
            ended.Dispose();
            Type? send = null;
            Type? flush = null;
            try
            {
                ended.TrySend(0x1001, [9]);
            }
            catch (Exception e)
            {
                send = e.GetType();
            }

            try
            {
                ended.Flush();
            }
            catch (Exception e)
            {
                flush = e.GetType();
            }

            next.TrySend(0x1001, [2]);
            return (send, flush);
        }
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Full_chunks_arrive_while_the_batch_is_still_open(TransportKind transport)
    {
        const int Chunk = FrameOutput.BatchChunk / (FrameHeader.Size + 1000);
        await using TestServer server = await TestServer.StartAsync(options: o => o.Transport = transport);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var received = new TaskCompletionSource();

        var sending = Task.Run(() =>
        {
            using SendBatch batch = session.BeginBatch();
            for (int i = 0; i <= 2 * Chunk; i++)
            {
                Assert.Equal(SendStatus.Queued, batch.TrySend(0x1001, Wire.Bytes(1000, i)));
            }

            Assert.True(received.Task.Wait(Patience.Limit));
        });
        for (int i = 0; i < 2 * Chunk; i++)
        {
            Assert.Equal(Wire.Bytes(1000, i), (await peer.ReadFrameAsync()).Body);
        }

        Assert.False(sending.IsCompleted);
        received.SetResult();
        await sending.InTimeAsync();
        Assert.Equal(Wire.Bytes(1000, 2 * Chunk), (await peer.ReadFrameAsync()).Body);
    }

    [Fact]
    public async Task Batches_inside_an_inline_handler_precede_its_reply()
    {
        await using TestServer server = await TestServer.StartAsync(h => h.MapInline(0x1001, (ref InlineRequest r) =>
        {
            Send(r.Session, [[1], [2], [3]]);
            r.Reply([4]);
        }));
        using RawPeer peer = await server.ConnectKnownAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1));

        for (byte i = 1; i <= 4; i++)
        {
            Assert.Equal([i], (await peer.ReadFrameAsync()).Body);
        }
    }

    [Fact]
    public async Task What_a_batch_could_not_take_is_told_and_the_rest_arrives()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.SendQueueBytes = 256 * 1024);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        int queued = FillWithBatches(session, SendStatus.Full);
        Task room = session.WhenWritableAsync(Patience.Token);
        for (int i = 0; i < queued; i++)
        {
            Assert.Equal(8_000, (await peer.ReadFrameAsync()).Body.Length);
        }

        await room;
        await peer.PingAsync();
        Assert.Equal(0, session.MessagesDropped);
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.DropOneWay, SendStatus.Dropped)]
    [InlineData(SendQueueFullPolicy.Disconnect, SendStatus.Closed)]
    public async Task The_policy_for_slow_peers_holds_for_batches_too(SendQueueFullPolicy policy, SendStatus expected)
    {
        await using TestServer server = await TestServer.StartAsync(
            options: o => (o.Session.SendQueueFull, o.Session.SendQueueBytes) = (policy, 256 * 1024));
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        FillWithBatches(session, expected);

        Assert.Equal(expected == SendStatus.Dropped ? 1 : 0, session.MessagesDropped);
    }

    [Fact]
    public async Task A_body_that_throws_leaves_the_batch_as_it_was()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        SendAround(session);

        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([2], (await peer.ReadFrameAsync()).Body);
        await peer.PingAsync();

        static void SendAround(Session session)
        {
            using SendBatch batch = session.BeginBatch();
            batch.TrySend(0x1001, [1]);
            try
            {
                batch.TrySend(0x1001, default(ThrowingBody));
                Assert.Fail("The body's exception was swallowed.");
            }
            catch (InvalidTimeZoneException)
            {
            }

            batch.TrySend(0x1001, [2]);
        }
    }

    [Fact]
    public async Task A_batch_on_a_closed_session_is_refused_and_leaves_nothing_behind()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        session.Abort();
        await server.CloseReasonAsync();

        using (SendBatch batch = session.BeginBatch())
        {
            Assert.Equal(SendStatus.Closed, batch.TrySend(0x1001, [1]));
            Assert.Equal(SendStatus.Queued, batch.Flush());
        }
    }

    [Fact]
    public async Task A_batch_that_a_Goodbye_overtakes_is_dropped_and_counted()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        Assert.Equal(SendStatus.Closed, Overtaken(session));

        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);
        await peer.ExpectEndAsync();
        Assert.Equal(2, session.MessagesDropped);

        static SendStatus Overtaken(Session session)
        {
            using SendBatch batch = session.BeginBatch();
            batch.TrySend(0x1001, [1]);
            batch.TrySend(0x1001, [2]);
            _ = session.CloseAsync();
            return batch.Flush();
        }
    }

    [Fact]
    public async Task A_batch_that_is_disposed_after_a_Goodbye_is_dropped_and_counted()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        using (SendBatch batch = session.BeginBatch())
        {
            Assert.Equal(SendStatus.Queued, batch.TrySend(0x1001, [1]));
            Assert.Equal(SendStatus.Queued, batch.TrySend(0x1001, [2]));
            _ = session.CloseAsync();
        }

        Assert.Equal(2, session.MessagesDropped);
        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task Nothing_is_collected_any_more_once_a_flush_has_failed()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        using (SendBatch batch = session.BeginBatch())
        {
            batch.TrySend(0x1001, [1]);
            _ = session.CloseAsync();
            Assert.Equal(SendStatus.Closed, batch.Flush());
            Assert.Equal(SendStatus.Closed, batch.TrySend(0x1001, [2]));
        }

        Assert.Equal(1, session.MessagesDropped);
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Batches_that_were_let_in_at_the_same_time_all_fit(TransportKind transport)
    {
        const int Batches = 60, Messages = 120;
        using var directory = new TemporaryDirectory();
        await using TestServer server = await TestServer.StartAsync(options: o =>
        {
            // TCP's buffers would grow until they hold it all.
            o.Endpoints.Clear();
            o.Endpoints.Add($"unix://{directory["fastport.sock"]}");
            o.Transport = transport;
            o.Session.MaxFrameBytes = 1024;
            o.Session.SendQueueBytes = 64 * 1024;
        });
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();

        SendTogether(session, Batches);

        Assert.False(session.Closed.IsCompleted);
        for (int i = 0; i < Batches * Messages; i++)
        {
            Assert.Equal(1000, (await peer.ReadFrameAsync()).Body.Length);
        }

        // As threads would that all begin before the first of them appends: nothing waits yet when each is asked.
        static void SendTogether(Session session, int batches)
        {
            using SendBatch batch = session.BeginBatch();
            for (int i = 0; i < Messages; i++)
            {
                Assert.Equal(SendStatus.Queued, batch.TrySend(0x1001, new byte[1000]));
            }

            if (batches > 1)
            {
                SendTogether(session, batches - 1);
            }

            Assert.Equal(SendStatus.Queued, batch.Flush());
        }
    }

    [Fact]
    public async Task A_session_ends_though_threads_go_on_with_batches()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int round = 0; round < 30; round++)
        {
            using var stop = new CancellationTokenSource();
            using RawPeer peer = await server.ConnectKnownAsync();
            Session session = await server.SessionAsync(round);
            Task[] senders = [.. Enumerable.Range(0, 2).Select(_ => Task.Run(() => SendUntil(session, stop.Token)))];
            await peer.ReadFrameAsync();
            session.Abort();
            await session.Closed.InTimeAsync();
            await stop.CancelAsync();
            await Task.WhenAll(senders).InTimeAsync();
        }

        static void SendUntil(Session session, CancellationToken stop)
        {
            while (!stop.IsCancellationRequested)
            {
                using SendBatch batch = session.BeginBatch();
                batch.TrySend(0x1001, [1]);
            }
        }
    }

    private static void Send(Session session, byte[][] bodies)
    {
        using SendBatch batch = session.BeginBatch();
        foreach (byte[] body in bodies)
        {
            Assert.Equal(SendStatus.Queued, batch.TrySend(0x1002, body));
        }
    }

    private static int FillWithBatches(Session session, SendStatus until)
    {
        byte[] body = Wire.Bytes(8_000);
        int queued = 0;
        while (true)
        {
            using SendBatch batch = session.BeginBatch();
            for (int i = 0; i < 10; i++)
            {
                SendStatus status = batch.TrySend(0x1001, body);
                if (status != SendStatus.Queued)
                {
                    Assert.Equal(until, status);
                    return queued;
                }

                queued++;
                Assert.InRange(queued, 0, 50_000);
            }
        }
    }

    private readonly struct ThrowingBody : FastPort.Framing.IFrameBody
    {
        public int Size => 8;

        public void Write(Span<byte> destination) => throw new InvalidTimeZoneException();
    }
}
