using FastPort.Protocol;
using System.Threading.Channels;
using FastPort.Framing;
using FastPort.Tags.Messages;
using FastPort.Telemetry;
using Google.Protobuf;
using Xunit;
using Message = FastPort.Tags.Messages.TagUpdate;

namespace FastPort.Tags.Tests;

/// <summary>A subscriber whose connection takes an update slowly.</summary>
public sealed class SlowSendTests
{
    private const ushort Identify = 0x4000;
    private const ushort Held = 0x4001;

    [Fact]
    public async Task A_send_that_takes_long_delays_no_other_subscriber_and_updates_keep_their_order()
    {
        var clock = new FakeClock();
        var source = new ControlledSource();
        var identified = new TaskCompletionSource<Session>();
        await using TagBridge bridge = await TagBridge.StartAsync(
            [source],
            new TagServerOptions(),
            latencies: new LatencyStats(LatencyRole.Server, time: clock),
            map: handlers => handlers.MapQueued(Identify, context =>
            {
                identified.TrySetResult(context.Session);
                return ValueTask.CompletedTask;
            }));
        var updates = Channel.CreateUnbounded<Message>();
        await using FastPortClient slow = await SubscribeAsync(bridge, "1", updates);
        await using TagClient quick = await bridge.ConnectAsync();
        await using TagSubscription subscription = await quick.SubscribeAsync(
            await quick.ResolveAsync(["2"]), new() { Interval = TimeSpan.FromMilliseconds(10) });
        await slow.RequestAsync(Identify, ReadOnlyMemory<byte>.Empty);
        Session session = await identified.Task;

        // The second one waits for the end of the interval.
        Report(source, (1, 10));
        List<(ulong, int)> received = [await NextAsync(updates)];
        Report(source, (1, 11));
        using var hold = new Hold();
        var writing = new Thread(() => session.TrySend(Held, new HeldBody(hold)));
        var sending = new Thread(() => clock.Advance(TimeSpan.FromSeconds(1)));
        writing.Start();
        hold.Begun.Wait(Patience.Token);
        sending.Start();
        await Patience.UntilAsync(
            () => sending.ThreadState.HasFlag(ThreadState.WaitSleepJoin), "the update waits for the end of the other message");

        Task reporting = Task.Run(() => Report(source, (1, 12), (2, 20)));
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(20, changes.Current.Sample.Value.Get<int>());
        await reporting.InTimeAsync();
        Assert.True(sending.IsAlive);

        hold.End.Set();
        writing.Join();
        sending.Join();
        clock.Advance(TimeSpan.FromSeconds(1));
        received.AddRange([await NextAsync(updates), await NextAsync(updates)]);
        Assert.Equal([(1UL, 10), (2UL, 11), (3UL, 12)], received);
    }

    private static async Task<(ulong Number, int Value)> NextAsync(Channel<Message> updates)
    {
        Message update = await updates.Reader.ReadAsync(Patience.Token);
        var samples = new TagSamples();
        Assert.True(samples.TryRead(update.Samples.ToByteArray(), 1));
        return (update.Number, samples[0].Value.Get<int>());
    }

    private static void Report(ControlledSource source, params (int Tag, int Value)[] changes)
    {
        var samples = new TagSamples();
        Array.ForEach(changes, change => samples.Add(change.Value));
        source.Listener!.OnChanges([.. changes.Select(static change => change.Tag)], samples);
    }

    private static async Task<FastPortClient> SubscribeAsync(TagBridge bridge, string tag, Channel<Message> updates)
    {
        var handlers = new MessageHandlers();
        handlers.MapInline(
            TagMessageType.Update,
            Message.Parser,
            (update, _) =>
            {
                updates.Writer.TryWrite(update);
            });
        handlers.MapInline(Held, static (ref InlineRequest _) => { }, "Held");
        var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = bridge.Endpoint, RequestTimeout = Loopback.Soon }, handlers);
        await client.ConnectAsync();
        ResolvedTags tags = ResolvedTags.Parser.ParseFrom(
            await client.RequestAsync(TagMessageType.Resolve, new ResolveTags { Names = { tag } }.ToByteArray()));
        await client.RequestAsync(
            TagMessageType.Subscribe, new SubscribeTags { Handles = { tags.Tags[0].Handle }, IntervalMs = 10 }.ToByteArray());
        return client;
    }

    private sealed class Hold : IDisposable
    {
        public ManualResetEventSlim Begun { get; } = new();

        public ManualResetEventSlim End { get; } = new();

        public void Dispose() => End.Set();
    }

    // A body whose writing takes as long as the test says: the connection's other writers wait meanwhile.
    private readonly struct HeldBody(Hold hold) : IFrameBody
    {
        public int Size => 1;

        public void Write(Span<byte> destination)
        {
            destination.Clear();
            hold.Begun.Set();
            hold.End.Wait();
        }
    }
}
