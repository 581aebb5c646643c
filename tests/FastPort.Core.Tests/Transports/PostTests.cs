using System.Collections.Concurrent;
using System.Diagnostics;
using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>What is posted to a connection runs on its loop, in order, whatever carries it; and so do all calls of its protocol.</summary>
public sealed class PostTests
{
    [Theory, EveryLink]
    public async Task What_is_posted_runs_in_order_on_the_loop_though_nothing_arrives(string link)
    {
        const int Each = 500;
        await using TestLink open = TestLink.Open(link);
        (TestProtocol _, TestProtocol server) = await open.ConnectAsync();
        ConcurrentQueue<(int Thread, int Number, bool OnLoop)> ran = new();

        await Task.WhenAll(Enumerable.Range(0, 3).Select(thread => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                int number = i;
                Assert.True(server.Connection.Post(_ => ran.Enqueue((thread, number, server.Connection.IsOnLoop)), null));
            }
        })));

        await Patience.UntilAsync(() => ran.Count == 3 * Each, "all of them ran");
        Assert.All(ran, static call => Assert.True(call.OnLoop));
        Assert.All(
            ran.GroupBy(static call => call.Thread), static calls =>
                Assert.Equal(Enumerable.Range(0, Each), calls.Select(static call => call.Number)));
        Assert.False(server.Connection.IsOnLoop);
    }

    [Theory, EveryLink]
    public async Task What_a_callback_writes_leaves_without_a_flush(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        server.Connection.Post(_ => Assert.True(server.TryWrite([1, 2, 3])), null);

        await client.ReceivedAsync(3);
    }

    [Theory, EveryLink]
    public async Task What_was_posted_runs_before_the_end_and_nothing_after_it(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        int ran = 0;
        int late = 0;
        int accepted = 0;
        Task posting = Task.Run(() =>
        {
            while (server.Connection.Post(_ => Interlocked.Add(ref server.Closed.IsCompleted ? ref late : ref ran, 1), null))
            {
                accepted++;

                // No more than the loop can do meanwhile.
                while (accepted - Volatile.Read(ref ran) > 50 && !server.Closed.IsCompleted)
                {
                    Thread.Yield();
                }
            }
        });
        await Patience.UntilAsync(() => Volatile.Read(ref ran) > 100, "some ran");

        client.Connection.Abort(CloseReason.LocalClosed);

        await posting.InTimeAsync();
        await server.ClosedAsync();
        Assert.Equal((accepted, 0), (ran, late));
        Assert.False(server.Connection.Post(static _ => { }, null));
    }

    [Theory, EveryLink]
    public async Task A_callback_that_throws_ends_its_connection_alone(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol _, TestProtocol broken) = await open.ConnectAsync();
        (TestProtocol client, TestProtocol sound) = await open.ConnectAsync();

        broken.Connection.Post(static _ => throw new InvalidOperationException("A defect."), null);

        Assert.Equal(CloseKind.Internal, (await broken.ClosedAsync()).Kind);
        Assert.True(await client.SendAsync(new byte[10]));
        await sound.ReceivedAsync(10);
        Assert.Single(open.Log.WithId(1000));
    }

    [Theory, EveryLink]
    public async Task Posting_a_static_callback_allocates_nothing(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol _, TestProtocol server) = await open.ConnectAsync();
        var count = new Counter();
        long allocated = long.MaxValue;

        // The least of the rounds: the lists have to grow once, the loop may let many gather then, and the runtime may charge its own to
        // the thread.
        for (int round = 0; round < 20; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 200; i++)
            {
                server.Connection.Post(static state => Interlocked.Increment(ref ((Counter)state!).Value), count);
            }

            allocated = Math.Min(allocated, GC.GetAllocatedBytesForCurrentThread() - before);
            await Patience.UntilAsync(() => count.Value == (round + 1) * 200, "all ran");
        }

        // Where a pump rests in between, what wakes it is the pool's: a queue's segment now and then.
        Assert.InRange(allocated, 0, 2_000);
    }

    [Theory, EveryLink]
    public async Task A_timer_calls_once_on_the_loop_after_its_delay(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol _, TestProtocol server) = await open.ConnectAsync();
        ConcurrentQueue<(int Milliseconds, TimeSpan After, bool OnLoop)> called = new();
        var watch = Stopwatch.StartNew();

        foreach (int delay in (int[])[40, 5, 0, 20])
        {
            server.Connection.PostAfter(
                TimeSpan.FromMilliseconds(delay), _ => called.Enqueue((delay, watch.Elapsed, server.Connection.IsOnLoop)), null);
        }

        await Patience.UntilAsync(() => called.Count == 4, "all were called");
        Assert.Equal([0, 5, 20, 40], called.Select(static call => call.Milliseconds).Order());
        Assert.All(called, static call => Assert.True(call.OnLoop && call.After.TotalMilliseconds >= call.Milliseconds, $"{call}"));
    }

    [Theory, EveryLink]
    public async Task A_timer_goes_by_the_clocks_time(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        (TestProtocol _, TestProtocol server) = await open.ConnectAsync();
        int called = 0;
        server.Connection.PostAfter(TimeSpan.FromSeconds(5), _ => Interlocked.Increment(ref called), null);

        time.Advance(TimeSpan.FromSeconds(4.999));
        Assert.Equal(0, called);
        time.Advance(TimeSpan.FromMilliseconds(1));

        await Patience.UntilAsync(() => Volatile.Read(ref called) == 1, "it was called");
    }

    [Theory, EveryLink]
    public async Task All_calls_of_a_protocol_come_on_its_loop(string link)
    {
        ConcurrentQueue<(string Call, bool OnLoop)> calls = new();
        TestProtocol server = null!;
        server = new TestProtocol
        {
            NextTick = ConnectionClock.NextTick,
            Opened = () => Note("opened"),
            Ticked = () => Note("ticked"),
            Drained = () => Note("drained"),
            Ended = () => Note("ended"),
        };
        server.OnBytes = input =>
        {
            Note("received");
            return server.Collect(input);
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        await raw.SendAsync([1, 2, 3]);
        await server.ReceivedAsync(3);
        await Patience.UntilAsync(() => server.Ticks > 1, "it was told of ticks");
        server.Connection.NotifyWhenDrained(0);
        await Patience.UntilAsync(() => server.Drains == 1, "it was told that nothing waits");
        raw.ShutdownSend();
        await server.ClosedAsync();

        Assert.All(calls, static call => Assert.True(call.OnLoop, call.Call));
        Assert.Equal(["drained", "ended", "opened", "received", "ticked"], calls.Select(static call => call.Call).Distinct().Order());

        void Note(string call) => calls.Enqueue((call, server.Connection.IsOnLoop));
    }

    private sealed class Counter
    {
        public int Value;
    }
}
