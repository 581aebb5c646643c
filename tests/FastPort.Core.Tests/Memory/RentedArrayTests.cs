using System.Collections.Concurrent;
using FastPort.Core.Tests.Buffers;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Memory;

/// <summary>
/// Over real sockets: every array a session rents goes back exactly once, and nobody writes to it afterwards, however the session ends.
/// </summary>
public sealed class RentedArrayTests
{
    private const ushort Work = 0x1001;

    public enum Death
    {
        EndOfStream,
        PeerReset,
        Abort,
        Close,
    }

    public static TheoryData<Death> Deaths => [.. Enum.GetValues<Death>()];

    [Theory]
    [MemberData(nameof(Deaths))]
    public async Task A_session_that_served_small_and_large_messages(Death death)
    {
        var pool = new TrackingArrayPool(surplus: 3);
        await using TestServer server = await StartAsync(pool, static h => h.MapQueued(Work, static c =>
        {
            c.Reply(c.Body.Span);
            return ValueTask.CompletedTask;
        }));
        using RawPeer peer = await server.ConnectAsync();
        for (uint i = 1; i <= 40; i++)
        {
            byte[] body = Wire.Bytes(i % 5 == 0 ? 300_000 : (int)i * 50, (int)i);
            Assert.Equal(body, (await peer.CallAsync(Wire.Request(i % 2 == 0 ? TestServer.Echo : Work, i, body))).Body);
        }

        await KillAsync(server, peer, death);

        await ExpectAllReturnedAsync(server, pool, atLeast: 80);
    }

    [Theory]
    [MemberData(nameof(Deaths))]
    public async Task A_session_that_dies_in_the_middle_of_a_frame(Death death)
    {
        var pool = new TrackingArrayPool();
        await using TestServer server = await StartAsync(pool);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        byte[] frame = Wire.Request(TestServer.Echo, 1, Wire.Bytes(500_000));
        await peer.SendAsync(Wire.PingRequest(1), frame[..300_000]);
        await Patience.UntilAsync(() => session.Connection.BytesReceived >= 300_000, "the part was received");
        Assert.True(pool.OutstandingBytes >= 300_000);

        await KillAsync(server, peer, death);

        await ExpectAllReturnedAsync(server, pool, atLeast: 1);
    }

    [Theory]
    [MemberData(nameof(Deaths))]
    public async Task A_session_that_dies_while_copied_and_borrowed_bytes_wait_for_its_peer(Death death)
    {
        var pool = new TrackingArrayPool();
        await using TestServer server = await StartAsync(pool);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        List<BorrowedBuffer> lent = [];
        var buffer = new BorrowedBuffer(50_000);
        SendStatus status = SendStatus.Queued;

        // A full queue is not enough: where the loop has not got to sending yet, the system's buffers may take all of it.
        while (status == SendStatus.Queued || !session.Connection.IsSendBlocked)
        {
            session.TrySend(Work, buffer.Bytes);
            status = session.TrySendBorrowed(Work, buffer.Bytes, BorrowedBuffer.Release, buffer);
            if (status == SendStatus.Queued)
            {
                lent.Add(buffer);
                buffer = new BorrowedBuffer(50_000);
            }
            else
            {
                await Patience.UntilAsync(
                    () => session.Connection.IsSendBlocked || session.Connection.PendingBytes == 0, "the system took what it takes");
            }
        }

        Assert.Contains(lent, static b => b.Releases == 0);
        Assert.NotEqual(0, pool.Outstanding);
        await KillAsync(server, peer, death);
        if (death is Death.EndOfStream or Death.Close)
        {
            // In order: it would wait for the peer to take everything.
            session.Abort();
        }

        await ExpectAllReturnedAsync(server, pool, atLeast: 10);
        Assert.All(lent, static b => Assert.Equal(1, b.Releases));
    }

    [Theory]
    [MemberData(nameof(Deaths))]
    public async Task A_session_that_dies_with_a_handler_running_and_requests_waiting(Death death)
    {
        var pool = new TrackingArrayPool();
        var running = new TaskCompletionSource();
        var release = new TaskCompletionSource();
        var late = new TaskCompletionSource<byte[]>();
        await using TestServer server = await StartAsync(pool, h => h.MapQueued(Work, async c =>
        {
            running.TrySetResult();
            await release.Task;
            late.TrySetResult(c.Body.ToArray());
        }));
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        byte[] body = Wire.Bytes(1000);
        await peer.SendAsync([.. Enumerable.Range(1, 20).SelectMany(i => Wire.Request(Work, (uint)i, body))]);
        await running.Task.InTimeAsync();
        await Patience.UntilAsync(() => session.MessagesReceived == 20, "all requests were taken");

        await KillAsync(server, peer, death);
        if (death is Death.PeerReset or Death.Abort)
        {
            // It does not wait for its handler, whose body lives on all the same.
            await server.CloseReasonAsync();
            Assert.Equal(20, pool.Outstanding);
        }

        release.SetResult();
        Assert.Equal(body, await late.Task.InTimeAsync());
        await ExpectAllReturnedAsync(server, pool, atLeast: 20);
    }

    [Fact]
    public async Task A_frame_that_is_refused_and_a_handler_that_throws()
    {
        var pool = new TrackingArrayPool();
        await using TestServer server = await StartAsync(pool, static h => h
            .MapQueued(Work, static _ => throw new InvalidOperationException("A defect in a handler."))
            .MapInline(Work + 1, static (ref InlineRequest _) => throw new InvalidOperationException("A defect in a handler.")));
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = Wire.Bytes(20_000);
        Assert.True((await peer.CallAsync(Wire.Request(Work, 1, body))).IsError);
        Assert.True((await peer.CallAsync(Wire.Request(Work + 1, 2, body))).IsError);
        await peer.SendAsync(Wire.Request(TestServer.Echo, 0, body));

        Assert.True((await peer.ReadFrameAsync()).IsError);
        await peer.ExpectEndAsync();
        peer.Dispose();

        await ExpectAllReturnedAsync(server, pool, atLeast: 4);
    }

    [Fact]
    public async Task A_client_whose_server_is_killed_under_load()
    {
        var pool = new TrackingArrayPool();
        var serverPool = new TrackingArrayPool();
        await using TestServer server = await StartAsync(serverPool);
        var options = new FastPortClientOptions { Endpoint = server.Endpoint.ToString(), Reconnect = false };
        options.Session.Pool = pool;
        await using (var client = new FastPortClient(options))
        {
            await client.ConnectAsync().InTimeAsync();
            byte[] body = Wire.Bytes(100_000);
            Assert.Equal(body, await client.RequestAsync(TestServer.Echo, body).InTimeAsync());
            Task[] calls = [.. Enumerable.Range(0, 30).Select(_ => IgnoreAsync(client.RequestAsync(TestServer.Echo, body)))];
            server.Opened[0].Abort();
            await Task.WhenAll(calls);
        }

        await server.DisposeAsync();
        await Patience.UntilAsync(() => pool.Outstanding == 0 && serverPool.Outstanding == 0, "all arrays were returned");
        pool.AssertAllReturned();
        serverPool.AssertAllReturned();
        Assert.True(pool.Rents > 1);
    }

    [Fact]
    public async Task Sixty_sessions_killed_at_random_moments()
    {
        var pool = new TrackingArrayPool(surplus: 1);
        ConcurrentBag<BorrowedBuffer> lent = [];
        await using TestServer server = await StartAsync(
            pool,
            h => h.MapQueued(Work, async c =>
            {
                if (c.Correlation % 3 == 0)
                {
                    await Task.Yield();
                }

                var buffer = new BorrowedBuffer(c.Body.ToArray());
                lent.Add(buffer);
                c.ReplyBorrowed(buffer.Bytes, BorrowedBuffer.Release, buffer);
            }),
            static o => (o.Session.MaxConcurrency, o.Session.SendQueueBytes, o.Session.MaxInFlightRequests) = (3, 64 * 1024, 8));
        await Task.WhenAll(Enumerable.Range(0, 60).Select(seed => Task.Run(async () =>
        {
            var random = new Random(seed);
            using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
            for (uint i = 1; i <= 20; i++)
            {
                byte[] frame = Wire.Request(random.Next(2) == 0 ? TestServer.Echo : Work, i, Wire.Bytes(random.Next(40_000), seed));
                await peer.TrySendAsync(random.Next(20) == 0 ? frame[..random.Next(frame.Length)] : frame);
            }

            if (random.Next(2) == 0)
            {
                peer.Reset();
            }
        })));

        await Patience.UntilAsync(() => server.Opened.Count == 60 && server.Closed.Count == 60, "all sessions ended");
        await ExpectAllReturnedAsync(server, pool, atLeast: 60);
        Assert.All(lent, static b => Assert.Equal(1, b.Releases));
    }

    // A ring that grew to a chunk's size by doubling would rent six, and copy what it holds with each.
    [Fact]
    public async Task A_batch_like_the_one_before_it_rents_its_array_at_once()
    {
        const int Messages = 100;
        var pool = new TrackingArrayPool();
        await using TestServer server = await StartAsync(pool);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        Assert.True(await SendAsync() > 0);

        Assert.InRange(await SendAsync(), 1, 4);

        async Task<long> SendAsync()
        {
            await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent and booked");
            long before = pool.Rents;
            SendBatch(session);
            for (int i = 0; i < Messages; i++)
            {
                Assert.Equal(1000, (await peer.ReadFrameAsync()).Body.Length);
            }

            return pool.Rents - before;
        }

        static void SendBatch(Session session)
        {
            using SendBatch batch = session.BeginBatch();
            for (int i = 0; i < Messages; i++)
            {
                Assert.Equal(SendStatus.Queued, batch.TrySend(Work, new byte[1000]));
            }
        }
    }

    private static Task<TestServer> StartAsync(
        TrackingArrayPool pool, Action<MessageHandlers>? handlers = null, Action<FastPort.FastPortServerOptions>? options = null) =>
        TestServer.StartAsync(handlers, o =>
        {
            o.Session.Pool = pool;
            options?.Invoke(o);
        });

    private static async Task KillAsync(TestServer server, RawPeer peer, Death death)
    {
        switch (death)
        {
            case Death.EndOfStream:
                peer.ShutdownSend();
                break;
            case Death.PeerReset:
                peer.Reset();
                break;
            case Death.Abort:
                (await server.SessionAsync()).Abort();
                break;
            case Death.Close:
                _ = (await server.SessionAsync()).CloseAsync();
                break;
        }
    }

    private static async Task ExpectAllReturnedAsync(TestServer server, TrackingArrayPool pool, int atLeast)
    {
        await Patience.UntilAsync(() => server.Closed.Count == server.Opened.Count, "the session ended");
        await Patience.UntilAsync(() => pool.Outstanding == 0, "all arrays were returned");
        pool.AssertAllReturned();
        Assert.True(pool.Rents >= atLeast, $"Only {pool.Rents} arrays came from this pool.");
    }

    private static async Task IgnoreAsync(Task task)
    {
        try
        {
            await task.InTimeAsync();
        }
        catch (Exception e) when (e is not TimeoutException)
        {
            // Lost with its connection: what these tests do to it.
        }
    }
}
