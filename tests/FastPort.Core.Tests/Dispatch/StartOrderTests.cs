using System.Collections.Concurrent;
using FastPort.Core.Tests.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>Requests of one session are started in the order they arrived, whichever kind of handler they have.</summary>
public sealed class StartOrderTests
{
    private const ushort Queued = 0x1001;
    private const ushort Inline = 0x1002;
    private const ushort Failing = 0x1003;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Inline_requests_wait_behind_queued_ones_that_wait_and_pings_do_not(int concurrency)
    {
        await using var scene = await Scene.StartAsync(o => o.Session.MaxConcurrency = concurrency);
        byte[][] running = [.. Enumerable.Range(1, concurrency).Select(static i => Wire.Request(Queued, (uint)i))];
        await scene.Peer.SendAsync(
            [.. running, Wire.Request(Queued, 11), Wire.Request(Inline, 12), Wire.Post(Inline, Number(13)), Wire.Request(
                Queued, 14), Wire.Request(Inline, 15)]);

        // A ping has been answered, so everything before it has been looked at.
        await scene.Peer.PingAsync();
        await Patience.UntilAsync(() => scene.Started.Count >= concurrency, "the slots were taken");
        await scene.Peer.PingAsync();
        Assert.Equal(Enumerable.Range(1, concurrency).Select(static i => (uint)i), scene.Started);
        scene.Release.SetResult();

        uint[] replies = [.. (await scene.ReadAsync(concurrency + 4)).Select(static f => f.Correlation)];
        Assert.Equal((uint[])[.. Enumerable.Range(1, concurrency).Select(static i => (uint)i), 11, 12, 13, 14, 15], scene.Started);
        Assert.Equal([12u, 15u], replies.Where(static c => c is 12 or 15));
        Assert.Equal(concurrency + 4, replies.Distinct().Count());
    }

    [Fact]
    public async Task An_inline_request_runs_at_once_where_queued_ones_only_run_and_is_not_copied()
    {
        var pool = new TrackingArrayPool();
        await using var scene = await Scene.StartAsync(o => o.Session.Pool = pool);
        await scene.Peer.SendAsync(Wire.Request(Queued, 1, Wire.Bytes(100)));
        await Patience.UntilAsync(() => scene.Started.Count == 1, "the queued request ran");
        await scene.Peer.PingAsync();
        await Patience.UntilAsync(() => pool.Outstanding == 1, "only the queued request's body was held");

        WireFrame reply = await scene.Peer.CallAsync(Wire.Request(Inline, 2, Wire.Bytes(100)));

        Assert.Equal(2u, reply.Correlation);
        await Patience.UntilAsync(() => pool.Outstanding == 1, "the inline request's bytes were given back");
        scene.Release.SetResult();
        Assert.Equal(1u, (await scene.Peer.ReadFrameAsync()).Correlation);
    }

    [Fact]
    public async Task A_deferred_inline_request_does_not_wait_for_the_end_of_the_queued_one_before_it()
    {
        var gates = new ConcurrentDictionary<uint, TaskCompletionSource>([new(1, new()), new(2, new())]);
        var started = new ConcurrentQueue<uint>();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Queued, async c =>
        {
            started.Enqueue(c.Correlation);
            await gates[c.Correlation].Task;
        }));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Queued, 1), Wire.Request(Queued, 2), Wire.Request(TestServer.Echo, 3));
        await Patience.UntilAsync(() => started.Count == 1, "the first request ran");
        await peer.PingAsync();

        gates[1].SetResult();

        Assert.Equal([1u, 3u], new[] { await peer.ReadFrameAsync(), await peer.ReadFrameAsync() }.Select(static f => f.Correlation));
        Assert.Equal([1u, 2u], started);
        gates[2].SetResult();
        Assert.Equal(2u, (await peer.ReadFrameAsync()).Correlation);
    }

    [Fact]
    public async Task A_deferred_request_that_is_cancelled_never_starts()
    {
        await using var scene = await Scene.StartAsync();
        await scene.Peer.SendAsync(
            Wire.Request(Queued, 1), Wire.Request(Queued, 2), Wire.Request(Inline, 3), Wire.Request(Inline, 4), Wire.CancelPost(3));
        await scene.Peer.PingAsync();

        scene.Release.SetResult();

        Assert.Equal([1u, 2u, 4u], (await scene.ReadAsync(3)).Select(static f => f.Correlation));
        Assert.Equal([1u, 2u, 4u], scene.Started);
    }

    [Theory]
    [InlineData(4, 16 * 1024 * 1024)]
    [InlineData(1000, 4 * 1024)]
    public async Task Deferred_requests_count_for_the_bounds_at_which_the_socket_is_not_read(int requests, int bytes)
    {
        await using var scene = await Scene.StartAsync(o => (o.Session.MaxInFlightRequests, o.Session.MaxQueuedBytes) = (requests, bytes));
        Session session = await scene.Server.SessionAsync();
        byte[] body = Wire.Bytes(1024);
        await scene.Peer.SendAsync(
            [Wire.Request(Queued, 1, body), Wire.Request(Queued, 2, body), .. Enumerable.Range(3, 40)
                .Select(i => Wire.Request(Inline, (uint)i, body))]);

        await Patience.UntilAsync(() => session.MessagesReceived == 4, "four requests were taken");
        await Patience.UntilSteadyAsync(() => session.Connection.BytesReceived, "nothing more was received");
        Assert.Equal(4, session.MessagesReceived);
        scene.Release.SetResult();

        Assert.Equal(
            Enumerable.Range(1, 42).Select(static i => (uint)i), (await scene.ReadAsync(42)).Select(static f => f.Correlation).Order());
        Assert.Equal(Enumerable.Range(1, 42).Select(static i => (uint)i), scene.Started);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Deferred_requests_of_a_dead_session_never_start_and_give_their_arrays_back(bool reset)
    {
        var pool = new TrackingArrayPool();
        await using var scene = await Scene.StartAsync(o => o.Session.Pool = pool);
        byte[] body = Wire.Bytes(500);
        await scene.Peer.SendAsync(
            [Wire.Request(Queued, 1, body), Wire.Request(Queued, 2, body), .. Enumerable.Range(3, 20)
                .Select(i => Wire.Request(Inline, (uint)i, body))]);
        await scene.Peer.PingAsync();
        await Patience.UntilAsync(() => scene.Started.Count == 1, "the first request ran");

        if (reset)
        {
            scene.Peer.Reset();
        }
        else
        {
            (await scene.Server.SessionAsync()).Abort();
        }

        await scene.Server.CloseReasonAsync();
        Assert.Equal(22, pool.Outstanding);
        scene.Release.SetResult();
        await Patience.UntilAsync(() => pool.Outstanding == 0, "all arrays were returned");
        pool.AssertAllReturned();
        Assert.Equal([1u], scene.Started);
    }

    [Fact]
    public async Task A_deferred_handler_fails_as_one_on_the_loop_does()
    {
        await using var scene = await Scene.StartAsync();
        await scene.Peer.SendAsync(
            Wire.Request(Queued, 1), Wire.Request(Queued, 2), Wire.Request(Failing, 3), Wire.Request(Failing, 4), Wire.Post(Failing, [1]),
            Wire.Request(Inline, 5));
        await scene.Peer.PingAsync();
        scene.Release.SetResult();

        WireFrame[] frames = await scene.ReadAsync(5);

        Assert.Equal([0u, 0, 9, 12, 0], frames.Select(static f => f.IsError ? f.ErrorCode : 0));
        Assert.Equal([1u, 2, 3, 4, 5], frames.Select(static f => f.Correlation));
        Assert.Equal(1, scene.Server.Counts.OneWayFailuresWith(9));
        Assert.Equal(2, scene.Server.Log.WithId(2003).Count);
    }

    private static byte[] Number(uint number) => BitConverter.GetBytes(number);

    /// <summary>A server whose queued handler waits for the release, with one peer; notes the order in which requests start.</summary>
    private sealed class Scene : IAsyncDisposable
    {
        public TestServer Server { get; private set; } = null!;

        public RawPeer Peer { get; private set; } = null!;

        public TaskCompletionSource Release { get; } = new();

        public ConcurrentQueue<uint> Started { get; } = new();

        public static async Task<Scene> StartAsync(Action<FastPortServerOptions>? options = null)
        {
            var scene = new Scene();
            scene.Server = await TestServer.StartAsync(
                h => h
                    .MapQueued(Queued, async c =>
                    {
                        scene.Started.Enqueue(c.Correlation);
                        await scene.Release.Task;
                    })
                    .MapInline(Inline, (ref InlineRequest r) =>
                    {
                        scene.Started.Enqueue(r.IsOneWay ? BitConverter.ToUInt32(r.Body.FirstSpan) : r.Correlation);
                        r.Reply(new SequenceBody(r.Body));
                    })
                    .MapInline(Failing, static (ref InlineRequest r) => throw (r.Correlation == 4
                        ? new RequestRefusedException(ErrorCode.NotFound, "No such thing.")
                        : new InvalidOperationException("A defect in a handler."))),
                options);
            scene.Peer = await scene.Server.ConnectAsync();
            return scene;
        }

        public async Task<WireFrame[]> ReadAsync(int count)
        {
            var frames = new WireFrame[count];
            for (int i = 0; i < count; i++)
            {
                frames[i] = await Peer.ReadFrameAsync();
            }

            return frames;
        }

        public async ValueTask DisposeAsync()
        {
            Peer.Dispose();
            await Server.DisposeAsync();
        }
    }
}
