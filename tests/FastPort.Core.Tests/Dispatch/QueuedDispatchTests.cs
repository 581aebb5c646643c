using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

public sealed class QueuedDispatchTests
{
    private const ushort Work = 0x1001;

    [Theory]
    [InlineData(1, false)]
    [InlineData(4, false)]
    [InlineData(1, true)]
    [InlineData(4, true)]
    public async Task Requests_start_in_arrival_order_and_no_more_than_allowed_run_at_once(int concurrency, bool beginsOnLoop)
    {
        var started = new ConcurrentQueue<uint>();
        int running = 0, most = 0;
        var random = new Random(3);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async c =>
            {
                started.Enqueue(c.Correlation);
                int now = Interlocked.Increment(ref running);
                InterlockedMax(ref most, now);
                for (int yields = (int)(c.Correlation % 4); yields > 0; yields--)
                {
                    await Task.Yield();
                }

                Interlocked.Decrement(ref running);
                c.Reply(c.Body.Span);
            }, beginsOnLoop: beginsOnLoop),
            o => o.Session.MaxConcurrency = concurrency);
        using RawPeer peer = await server.ConnectAsync();
        byte[] all = [.. Enumerable.Range(1, 1000).SelectMany(static i => Wire.Request(Work, (uint)i, BitConverter.GetBytes(i)))];

        await peer.SendAsync(all);

        List<uint> replies = [];
        for (int i = 0; i < 1000; i++)
        {
            WireFrame reply = await peer.ReadFrameAsync();
            Assert.Equal(reply.Correlation, BitConverter.ToUInt32(reply.Body));
            replies.Add(reply.Correlation);
        }

        Assert.InRange(most, 1, concurrency);
        Assert.Equal(1000, replies.Distinct().Count());
        Assert.Equal(Enumerable.Range(1, 1000).Select(static i => (uint)i), started);
        if (concurrency == 1)
        {
            Assert.Equal(Enumerable.Range(1, 1000).Select(static i => (uint)i), replies);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Four_run_at_once_where_four_are_allowed_and_the_fifth_waits(bool beginsOnLoop)
    {
        using var started = new SemaphoreSlim(0);
        var release = new TaskCompletionSource();
        int count = 0;
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async _ =>
            {
                Interlocked.Increment(ref count);
                started.Release();
                await release.Task;
            }, beginsOnLoop: beginsOnLoop),
            static o => o.Session.MaxConcurrency = 4);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync([.. Enumerable.Range(1, 6).SelectMany(static i => Wire.Request(Work, (uint)i))]);
        for (int i = 0; i < 4; i++)
        {
            Assert.True(await started.WaitAsync(Patience.Limit));
        }

        await peer.PingAsync();
        Assert.Equal(4, Volatile.Read(ref count));
        release.SetResult();
        Assert.Equal([1u, 2, 3, 4, 5, 6], (await ReadAsync(peer, 6)).Select(static f => f.Correlation).Order().ToArray());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public async Task A_handler_that_may_begins_on_the_loop_unless_earlier_requests_wait(int concurrency)
    {
        const ushort Other = 0x1002;
        var places = new ConcurrentQueue<bool>();
        using var began = new SemaphoreSlim(0);
        var block = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h
                .MapQueued(Work, c =>
                {
                    places.Enqueue(c.Session.Connection.IsOnLoop);
                    c.Reply(c.Body.Span);
                    return ValueTask.CompletedTask;
                }, beginsOnLoop: true)
                .MapQueued(Other, c =>
                {
                    // Holds the worker, not the loop.
                    began.Release();
                    block.Task.Wait();
                    return ValueTask.CompletedTask;
                }),
            o => o.Session.MaxConcurrency = concurrency);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(Work, 1));
        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        await peer.SendAsync(Wire.Request(Other, 2));
        Assert.True(await began.WaitAsync(Patience.Limit));
        await peer.SendAsync(Wire.Request(Work, 3));
        await peer.PingAsync();
        Assert.Single(places);
        block.SetResult();

        Assert.Equal([2u, 3], (await ReadAsync(peer, 2)).Select(static f => f.Correlation));
        Assert.Equal([true, false], places);
    }

    [Fact]
    public async Task Inline_handlers_of_the_session_and_all_of_other_sessions_go_on_while_one_is_slow()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Work, async _ => await release.Task));
        using RawPeer slow = await server.ConnectAsync();
        using RawPeer other = await server.ConnectAsync();

        await slow.SendAsync(Wire.Request(Work, 1), Wire.Request(TestServer.Echo, 2, [2]));

        Assert.Equal(2u, (await slow.ReadFrameAsync()).Correlation);
        Assert.Equal([9], (await other.CallAsync(Wire.Request(TestServer.Echo, 1, [9]))).Body);
        release.SetResult();
        Assert.Equal(1u, (await slow.ReadFrameAsync()).Correlation);
    }

    [Fact]
    public async Task An_inline_handler_that_blocks_holds_up_neither_accepting_nor_other_sessions()
    {
        using var release = new ManualResetEventSlim();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(Work, (ref InlineRequest _) => release.Wait(Patience.Limit)),

            // Whatever the machine: the one that is blocked stops the others of its own loop.
            static o => o.Loops = 2);
        using RawPeer blocked = await server.ConnectAsync();
        await blocked.SendAsync(Wire.Request(Work, 1));

        using RawPeer other = await server.ConnectAsync();
        await other.PingAsync();

        release.Set();
        Assert.Equal(1u, (await blocked.ReadFrameAsync()).Correlation);
    }

    [Theory]
    [InlineData(5, 16 * 1024 * 1024)]
    [InlineData(1000, 5 * 1024)]
    public async Task At_its_bound_the_socket_is_not_read_and_nothing_is_lost(int requests, int bytes)
    {
        const int Frames = 20_000;
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async c =>
            {
                await release.Task;
                c.Reply(c.Body.Span[..4]);
            }),
            o => (o.Session.MaxInFlightRequests, o.Session.MaxQueuedBytes) = (requests, bytes));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        // 20 MB: more than the kernel and the receive ring can hold between them.
        Task sending = Task.Run(async () =>
        {
            byte[] padding = new byte[1020];
            for (int i = 1; i <= Frames; i++)
            {
                await peer.SendAsync(Wire.Request(Work, (uint)i, [.. BitConverter.GetBytes(i), .. padding]));
            }
        });
        await Patience.UntilAsync(() => session.MessagesReceived == 5, "five requests were taken");
        await Patience.UntilSteadyAsync(() => session.Connection.BytesReceived, "the socket was read no more");

        Assert.Equal(5, session.MessagesReceived);
        Assert.InRange(session.Connection.BytesReceived, 5 * 1036, 2_000_000);
        Assert.False(sending.IsCompleted);
        release.SetResult();
        for (int i = 1; i <= Frames; i++)
        {
            WireFrame reply = await peer.ReadFrameAsync();
            Assert.Equal(((uint)i, i), (reply.Correlation, BitConverter.ToInt32(reply.Body)));
        }

        await sending;
    }

    [Fact]
    public async Task Cancel_reaches_the_running_handler_and_keeps_a_waiting_one_from_starting()
    {
        var started = new ConcurrentQueue<uint>();
        var cancelled = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Work, async c =>
        {
            started.Enqueue(c.Correlation);
            if (c.Correlation == 1)
            {
                await using (c.Aborted.Register(() => cancelled.TrySetResult()))
                {
                    await cancelled.Task;
                }

                c.Aborted.ThrowIfCancellationRequested();
            }
        }));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Work, 1), Wire.Request(Work, 2), Wire.Request(Work, 3));
        await Patience.UntilAsync(() => !started.IsEmpty, "the first request ran");

        await peer.SendAsync(Wire.CancelPost(2), Wire.CancelPost(77), Wire.CancelPost(1));

        Assert.Equal(3u, (await peer.ReadFrameAsync()).Correlation);
        Assert.Equal(new uint[] { 1, 3 }, started);
        await peer.PingAsync();
        Assert.Empty(server.Log.WithId(2003));
    }

    [Fact]
    public async Task Handlers_are_cancelled_when_the_session_ends_and_waiting_requests_never_start()
    {
        int started = 0;
        var cancelled = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Work, async c =>
        {
            Interlocked.Increment(ref started);
            try
            {
                await Task.Delay(Timeout.Infinite, c.Aborted);
            }
            finally
            {
                cancelled.TrySetResult();
            }
        }));
        RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Work, 1), Wire.Request(Work, 2), Wire.Request(Work, 3));
        await Patience.UntilAsync(() => Volatile.Read(ref started) == 1, "the first request ran");

        peer.Reset();

        await cancelled.Task.InTimeAsync();
        await server.CloseReasonAsync();
        Assert.Equal(1, started);
    }

    /// <summary>The end of its stream alone is no sign: a peer that half-closes still waits for its answer.</summary>
    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Handlers_are_cancelled_when_a_peer_is_gone_whose_stream_has_ended(TransportKind transport)
    {
        using var directory = new TemporaryDirectory();
        var time = new FakeTimeProvider();
        var started = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async c =>
            {
                await using (c.Aborted.Register(() => cancelled.TrySetResult()))
                {
                    started.SetResult();
                    await cancelled.Task;
                }
            }),
            o => (o.Endpoints, o.Transport) = ([$"unix://{directory["s"]}"], transport),
            h => h.Time = time);
        RawPeer peer = await server.ConnectKnownAsync();
        await peer.SendAsync(Wire.Request(Work, 1));
        await started.Task.InTimeAsync();
        Session session = await server.SessionAsync();

        peer.Dispose();
        await Patience.UntilAsync(() => session.Protocol.End.Reason is not null, "the end of the stream was noticed");
        Assert.False(cancelled.Task.IsCompleted);
        time.Advance(2 * new SessionOptions().HeartbeatInterval);

        await cancelled.Task.InTimeAsync();
        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task The_timing_block_counts_the_time_a_request_waited_for_its_turn_to_be_read()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async _ => await release.Task), static o => o.Session.MaxInFlightRequests = 1);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.PingRequest(9), Wire.Request(Work, 1, flags: Wire.Timing), Wire.Request(Work, 2, flags: Wire.Timing));
        await peer.ReadFrameAsync();
        release.SetResult();

        WireFrame first = await peer.ReadFrameAsync();
        WireFrame second = await peer.ReadFrameAsync();
        Assert.Equal((1u, 2u), (first.Correlation, second.Correlation));
        Assert.Equal(first.Received, second.Received);
        Assert.True(second.Received < first.Sent && first.Sent <= second.Sent);
    }

    [Fact]
    public async Task Replies_of_handlers_that_answer_at_once_are_never_lost()
    {
        const int Handlers = 16;
        byte[] body = Wire.Bytes(1_000_000);
        using var started = new SemaphoreSlim(0);
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Work, async c =>
            {
                started.Release();
                await release.Task;
                c.Reply(body);
            }),
            static o => (o.Session.MaxConcurrency, o.Session.SendQueueBytes) = (Handlers, 4096));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        await peer.SendAsync([.. Enumerable.Range(1, Handlers).SelectMany(static i => Wire.Request(Work, (uint)i))]);
        for (int i = 0; i < Handlers; i++)
        {
            Assert.True(await started.WaitAsync(Patience.Limit));
        }

        release.SetResult();
        Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.MessagesSent == Handlers, "every reply was written");

        foreach (WireFrame reply in await ReadAsync(peer, Handlers))
        {
            Assert.Equal(body, reply.Body);
        }
    }

    private static async Task<List<WireFrame>> ReadAsync(RawPeer peer, int count)
    {
        List<WireFrame> frames = [];
        for (int i = 0; i < count; i++)
        {
            frames.Add(await peer.ReadFrameAsync());
        }

        return frames;
    }

    private static void InterlockedMax(ref int target, int value)
    {
        int seen = Volatile.Read(ref target);
        while (value > seen)
        {
            int before = Interlocked.CompareExchange(ref target, value, seen);
            if (before == seen)
            {
                return;
            }

            seen = before;
        }
    }
}
