using System.Collections.Concurrent;
using FastPort.Core.Tests.Buffers;
using FastPort.Core.Tests.Support;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>Random mixes of messages: they start in order, never two inline ones at once, and each request is answered once.</summary>
public sealed class StartOrderPropertyTests
{
    private const ushort Queued = 0x1001;
    private const ushort Inline = 0x1002;

    internal enum Kind
    {
        Inline,
        InlinePost,
        Queued,
        QueuedPost,
        Cancel,
        Ping,
        Breath,
    }

    [Theory]
    [InlineData(1, 1024)]
    [InlineData(1, 3)]
    [InlineData(3, 1024)]
    [InlineData(4, 5)]
    public void Any_mix_starts_in_the_order_of_arrival(int concurrency, int inFlight)
    {
        Gen<Step> step =
            from kind in Gen.Frequency(
                (6, Gen.Constant(Kind.Inline)), (3, Gen.Constant(Kind.InlinePost)), (6, Gen.Constant(Kind.Queued)),
                (2, Gen.Constant(Kind.QueuedPost)),
                (1, Gen.Constant(Kind.Cancel)), (1, Gen.Constant(Kind.Ping)), (1, Gen.Constant(Kind.Breath)))
            from number in Gen.Choose(0, 3)
            select new Step(kind, number);
        Config config = Config.QuickThrowOnFailure.WithMaxTest(60).WithEndSize(150).WithQuietOnSuccess(true)
            .WithReplay(new Replay(new Rnd(6628, 1), null));
        Check.One(config, Prop.ForAll(Arb.From(Gen.ArrayOf(step), Shorter), steps => Run(steps, concurrency, inFlight)));
    }

    private static void Run(Step[] steps, int concurrency, int inFlight) =>
        Task.Run(() => RunAsync(steps, concurrency, inFlight)).GetAwaiter().GetResult();

    private static async Task RunAsync(Step[] steps, int concurrency, int inFlight)
    {
        var pool = new TrackingArrayPool();
        var started = new ConcurrentQueue<int>();
        int inlineRunning = 0, queuedRunning = 0;
        bool together = false, tooMany = false;
        await using TestServer server = await TestServer.StartAsync(
            h => h
                .MapInline(Inline, (ref InlineRequest r) =>
                {
                    started.Enqueue(BitConverter.ToInt32(r.Body.FirstSpan));
                    together |= Interlocked.Increment(ref inlineRunning) != 1;
                    r.Reply(r.Body.FirstSpan);
                    Interlocked.Decrement(ref inlineRunning);
                })
                .MapQueued(Queued, async c =>
                {
                    started.Enqueue(BitConverter.ToInt32(c.Body.Span));
                    tooMany |= Interlocked.Increment(ref queuedRunning) > concurrency;
                    for (int yields = c.Body.Span[4]; yields > 0; yields--)
                    {
                        await Task.Yield();
                    }

                    Interlocked.Decrement(ref queuedRunning);
                    c.Reply(c.Body.Span);
                }),
            o => (o.Session.MaxConcurrency, o.Session.MaxInFlightRequests, o.Session.Pool) = (concurrency, inFlight, pool));
        using RawPeer peer = await server.ConnectAsync();
        List<byte[]> frames = [];
        HashSet<int> messages = [], requests = [], cancelled = [];
        foreach ((int index, Step step) in steps.Index())
        {
            byte[] body = [.. BitConverter.GetBytes(index + 1), (byte)step.Number];
            switch (step.Kind)
            {
                case Kind.Breath:
                    await peer.SendAsync([.. frames]);
                    frames.Clear();
                    await Task.Yield();
                    continue;
                case Kind.Ping:
                    frames.Add(Wire.PingRequest((uint)index + 1));
                    requests.Add(index + 1);
                    continue;
                case Kind.Cancel:
                    frames.Add(Wire.CancelPost((uint)(index - step.Number)));
                    cancelled.Add(index - step.Number);
                    continue;
                case Kind.Inline or Kind.Queued:
                    frames.Add(Wire.Request(step.Kind == Kind.Inline ? Inline : Queued, (uint)index + 1, body));
                    requests.Add(index + 1);
                    break;
                default:
                    frames.Add(Wire.Post(step.Kind == Kind.InlinePost ? Inline : Queued, body));
                    break;
            }

            messages.Add(index + 1);
        }

        // After its Goodbye all is answered, then the connection ends.
        await peer.SendAsync([.. frames, Wire.GoodbyePost()]);
        List<int> replies = [];
        while (await peer.ReadAsync() is { } frame)
        {
            Assert.Equal(Wire.Reply, frame.Flags);
            Assert.Equal(frame.Type == Wire.Ping ? 0 : frame.Correlation, frame.Body.Length == 0 ? 0 : BitConverter.ToUInt32(frame.Body));
            replies.Add((int)frame.Correlation);
        }

        int[] order = [.. started];
        Assert.Equal(order.Order(), order);
        Assert.Empty(order.Except(messages));
        Assert.Empty(messages.Except(order).Except(cancelled));
        Assert.Equal(replies.Count, replies.Distinct().Count());
        Assert.Empty(replies.Except(requests));
        Assert.Empty(requests.Except(replies).Except(cancelled));
        Assert.False(together, "Two inline handlers ran at once.");
        Assert.False(tooMany, "More queued handlers ran than are allowed.");
        await Patience.UntilAsync(() => pool.Outstanding == 0, "all arrays were returned");
        pool.AssertAllReturned();
    }

    // A failing run is cut to half, then loses single steps.
    private static IEnumerable<Step[]> Shorter(Step[] run)
    {
        if (run.Length > 1)
        {
            yield return run[..(run.Length / 2)];
            yield return run[(run.Length / 2)..];
        }

        for (int i = run.Length - 1; i >= 0; i--)
        {
            yield return [.. run[..i], .. run[(i + 1)..]];
        }
    }

    // The number: how often a queued handler yields before it ends, or how far back the request to cancel lies.
    internal sealed record Step(Kind Kind, int Number);
}
