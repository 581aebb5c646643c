using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Subscriptions and their feeds.</content>
public sealed partial class TagServerTests
{
    [Fact]
    public async Task A_subscriber_to_a_tag_whose_first_value_has_not_come_waits_for_it()
    {
        TagList tags = await _client.ResolveAsync(["1"]);
        await using TagSubscription first = await _client.SubscribeAsync(tags);
        await using TagSubscription second = await _client.SubscribeAsync(tags);
        var samples = new TagSamples();
        samples.Add(5);

        _source.Listener!.OnChanges([1], samples);

        foreach (TagSubscription subscription in (TagSubscription[])[first, second])
        {
            TagChange change = await subscription.FirstAsync().AsTask().WaitAsync(Loopback.Soon);
            Assert.Equal((5, TagStatus.Good), (change.Sample.Value.Get<int>(), change.Sample.Status));
        }
    }

    [Fact]
    public async Task A_feed_that_is_opened_while_the_server_closes_is_closed()
    {
        var closed = new TaskCompletionSource();
        Task? closing = null;
        _source.Feeds = (interval, _) =>
        {
            closing = _bridge.CloseTagsAsync().AsTask();
            return new ControlledSource.SilentFeed(interval, closed);
        };

        await using TagSubscription subscription = await _client.SubscribeAsync(await _client.ResolveAsync(["1"]));

        await closed.Task.WaitAsync(Loopback.Soon);
        await closing!;
    }

    [Fact]
    public async Task A_subscription_that_is_ended_before_its_feed_has_it_does_not_stay()
    {
        var opening = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var source = new FaultySource { Opening = opening.Task };
        source.Tags.Add("1", 1);
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = bridge.Endpoint, RequestTimeout = Loopback.Soon });
        await client.ConnectAsync();
        ResolvedTags tags = ResolvedTags.Parser.ParseFrom(
            await client.RequestAsync(TagMessageType.Resolve, new ResolveTags { Names = { "1" } }.ToByteArray()));
        byte[] subscribe = new SubscribeTags { Handles = { tags.Tags[0].Handle } }.ToByteArray();
        Task<byte[]> first = client.RequestAsync(TagMessageType.Subscribe, subscribe);
        await source.IsOpening.Task.InTimeAsync();
        Task<byte[]> second = client.RequestAsync(TagMessageType.Subscribe, subscribe);
        for (int i = 0; i < 2; i++)
        {
            await client.RequestAsync(TagMessageType.Resolve, ReadOnlyMemory<byte>.Empty);
        }

        // The peer guesses the number, which no reply has named yet. The second subscription waits for its turn at the feed.
        await client.RequestAsync(TagMessageType.Unsubscribe, new UnsubscribeTags { Subscription = 2 }.ToByteArray());
        opening.SetResult();
        foreach (Task<byte[]> subscribing in (Task<byte[]>[])[first, second])
        {
            await subscribing.InTimeAsync();
        }

        await client.RequestAsync(TagMessageType.Unsubscribe, new UnsubscribeTags { Subscription = 1 }.ToByteArray());
        await Patience.UntilAsync(() => source.Feeds == 0, "the feed is closed");
    }

    [Fact]
    public async Task A_feed_that_fails_to_close_leaves_no_other_subscription_of_its_session()
    {
        FaultySource[] sources = [new FaultySource(), new FaultySource()];
        sources[0].Tags.Add("one", 1);
        sources[1].Tags.Add("two", 1);
        sources[0].CloseFailure = new InvalidOperationException("The test says so.");
        await using TagBridge bridge = await TagBridge.StartAsync(sources);
        TagClient client = await bridge.ConnectAsync();
        await client.SubscribeAsync(await client.ResolveAsync(["one"]));
        await client.SubscribeAsync(await client.ResolveAsync(["one"]), new() { Interval = TimeSpan.FromMilliseconds(10) });
        await client.SubscribeAsync(await client.ResolveAsync(["two"]));
        Assert.Equal([2, 1], sources.Select(static source => source.Feeds));

        await client.DisposeAsync();

        await Patience.UntilAsync(() => Array.TrueForAll(sources, static source => source.Feeds == 0), "all feeds are closed");
    }

    [Fact]
    public async Task A_feed_that_fails_to_close_does_not_keep_the_server_from_closing_the_others()
    {
        FaultySource[] sources = [new FaultySource(), new FaultySource()];
        sources[0].Tags.Add("one", 1);
        sources[1].Tags.Add("two", 1);
        sources[0].CloseFailure = new InvalidOperationException("The test says so.");
        await using TagBridge bridge = await TagBridge.StartAsync(sources);
        await using TagClient client = await bridge.ConnectAsync();
        await client.SubscribeAsync(await client.ResolveAsync(["one"]));
        await client.SubscribeAsync(await client.ResolveAsync(["one"]), new() { Interval = TimeSpan.FromMilliseconds(10) });
        await client.SubscribeAsync(await client.ResolveAsync(["two"]));

        await bridge.Tags.DisposeAsync();

        Assert.All(sources, static source => Assert.Equal(0, source.Feeds));
    }
}
