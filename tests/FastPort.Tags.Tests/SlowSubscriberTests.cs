using FastPort.Protocol;
using System.Threading.Channels;
using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;
using Message = FastPort.Tags.Messages.TagUpdate;

namespace FastPort.Tags.Tests;

/// <summary>Subscribers that do not keep up: they cost a bounded amount of memory, and others get theirs.</summary>
[Collection("Alone")]
public sealed class SlowSubscriberTests : IAsyncLifetime
{
    private const int QueueSize = 10;
    private const string Count = "count";
    private const string Text = "text";

    private readonly MemoryTagSource _memory = new();
    private TagBridge _bridge = null!;

    public async ValueTask InitializeAsync()
    {
        _memory.Add(Count, 0);
        _memory.Add(Text, TagValue.From(string.Empty));
        _bridge = await TagBridge.StartAsync(
            [_memory], new TagServerOptions(), configure: static options => options.Session.WriteTimeout = TimeSpan.FromMinutes(10));
    }

    public ValueTask DisposeAsync() => _bridge.DisposeAsync();

    [Theory]
    [InlineData(1)]
    [InlineData(QueueSize)]
    public async Task Without_an_acknowledgment_four_updates_come_and_then_what_the_queue_has(int queueSize)
    {
        const int Changes = 1000;
        var updates = Channel.CreateUnbounded<Message>();
        var handlers = new MessageHandlers();
        handlers.MapInline(
            TagMessageType.Update,
            Message.Parser,
            (update, _) =>
            {
                updates.Writer.TryWrite(update);
            });
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = _bridge.Endpoint, RequestTimeout = Loopback.Soon }, handlers);
        await client.ConnectAsync();
        ResolvedTags tags = ResolvedTags.Parser.ParseFrom(
            await client.RequestAsync(TagMessageType.Resolve, new ResolveTags { Names = { Count } }.ToByteArray()));
        SubscribedTags subscribed = SubscribedTags.Parser.ParseFrom(await client.RequestAsync(
            TagMessageType.Subscribe,
            new SubscribeTags { Handles = { tags.Tags[0].Handle }, IntervalMs = 10, QueueSize = (uint)queueSize }.ToByteArray()));

        // The last of the four is there: whatever changes from now on waits.
        List<Message> received = [];
        for (int i = 1; received.Count < 4; i++)
        {
            received.Add(await updates.Reader.ReadAsync(Patience.Token));
            _memory.Set(Count, -i);
        }

        for (int i = 1; i <= Changes; i++)
        {
            _memory.Set(Count, i);
        }

        await client.RequestAsync(TagMessageType.Resolve, new ResolveTags().ToByteArray());
        Assert.False(updates.Reader.TryPeek(out _));
        await client.SendAsync(
            TagMessageType.Acknowledge, new AcknowledgeUpdates { Subscription = subscribed.Subscription, Number = 4 }.ToByteArray());
        Message next = await updates.Reader.ReadAsync(Patience.Token);

        var samples = new TagSamples();
        Assert.True(samples.TryRead(next.Samples.ToByteArray(), QueueSize));
        Assert.Equal([1UL, 2, 3, 4, 5], received.Append(next).Select(static update => update.Number));
        Assert.Equal(
            Enumerable.Range(Changes - queueSize + 1, queueSize),
            Enumerable.Range(0, samples.Count).Select(row => samples[row].Value.Get<int>()));

        // The change after the fourth update waited too. Without a queue nothing counts as dropped.
        Assert.Equal(queueSize == 1 ? 0UL : (ulong)(Changes + 1 - queueSize), next.Dropped);
    }

    [Fact]
    public async Task A_client_that_reads_nothing_costs_no_memory_by_and_by_and_gets_exact_counts_at_last()
    {
        const int Changes = 200_000;
        const int Watches = 99;
        await using var relay = new FreezingRelay(_bridge.Endpoint);
        await using TagClient slow = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = relay.Url, RequestTimeout = Loopback.Soon });
        await using TagClient quick = await _bridge.ConnectAsync();
        TagSubscription counted = await SubscribeAsync(slow, Count, QueueSize);
        await using IAsyncEnumerator<FastPort.Tags.TagUpdate> updates =
            counted.ReadUpdatesAsync().GetAsyncEnumerator(Patience.Token);
        Assert.True(await updates.MoveNextAsync());
        await Task.WhenAll(Enumerable.Range(0, Watches).Select(_ => SubscribeAsync(slow, Text, 1)));
        TagSubscription others = await SubscribeAsync(quick, Count, 1);

        // The other subscriptions fill the connection: 15 MB are more than the system's buffers take.
        relay.Freeze();
        _memory.Set(Text, new string('x', 150_000));
        for (int i = 1; i <= 1000; i++)
        {
            _memory.Set(Count, i);
        }

        // Those 15 MB are still being written: not part of what is measured.
        long before = 0;
        await Patience.UntilAsync(
            () =>
            {
                long last = before;
                before = GC.GetTotalMemory(forceFullCollection: true);
                return Math.Abs(before - last) < 64 * 1024;
            },
            "the memory settles");
        for (int i = 1001; i <= Changes; i++)
        {
            _memory.Set(Count, i);
        }

        long grown = GC.GetTotalMemory(forceFullCollection: true) - before;
        Assert.InRange(grown, long.MinValue, 8 * 1024 * 1024);

        // Others get theirs meanwhile.
        await foreach (TagChange change in others.WithCancellation(Patience.Token))
        {
            if (change.Sample.Value.Get<int>() == Changes)
            {
                break;
            }
        }

        relay.Thaw();
        List<int> seen = [];
        long dropped = 0;
        while (seen.Count == 0 || seen[^1] != Changes)
        {
            Assert.True(await updates.MoveNextAsync());
            seen.AddRange(Enumerable.Range(0, updates.Current.Samples.Count).Select(row => updates.Current.Samples[row].Value.Get<int>()));
            dropped += updates.Current.Dropped;
        }

        Assert.Equal(Changes, seen.Count + dropped);
        Assert.Equal(seen.Distinct().Order(), seen);
        Assert.Equal(Enumerable.Range(Changes - QueueSize + 1, QueueSize), seen.TakeLast(QueueSize));
    }

    private static async Task<TagSubscription> SubscribeAsync(TagClient client, string tag, int queueSize) => await client.SubscribeAsync(
        await client.ResolveAsync([tag]), new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = queueSize });
}

/// <summary>Tests that measure this process's memory: nothing else runs meanwhile.</summary>
[CollectionDefinition("Alone", DisableParallelization = true)]
public sealed class AloneDefinition;
