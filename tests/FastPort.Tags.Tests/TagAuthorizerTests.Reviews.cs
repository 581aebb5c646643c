using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Reviews: what a session may no longer do ends.</content>
public sealed partial class TagAuthorizerTests
{
    [Fact]
    public async Task After_a_review_what_was_allowed_is_asked_again()
    {
        TagList tags = await _client.ResolveAsync(["line/a", "line/b"]);
        await _client.ReadAsync(tags);
        _allowed.Clear();
        Allow(TagAccess.Read, "line/b");

        Assert.Empty(await _bridge.Tags.ReviewAccessAsync());

        TagSamples read = await _client.ReadAsync(tags);
        Assert.Equal([TagStatus.BadUserAccessDenied, TagStatus.Good], Enumerable.Range(0, 2).Select(i => read[i].Status));
    }

    [Fact]
    public async Task A_review_ends_items_of_subscriptions_with_a_last_sample_and_keeps_the_others()
    {
        Allow(TagAccess.Read, "line/b");
        TagList tags = await _client.ResolveAsync(["line/a", "line/b", "other/c"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(
            tags, new TagSubscriptionOptions { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 10 });
        Assert.Equal([TagStatus.Good, TagStatus.Good, TagStatus.BadUserAccessDenied], subscription.Statuses);
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        HashSet<string> first = [await NextAsync(changes), await NextAsync(changes)];
        Assert.Equal(["line/a", "line/b"], first.Order(StringComparer.Ordinal));
        _allowed.TryRemove((TagAccess.Read, "line/a"), out _);

        (Session _, string name) = Assert.Single(await _bridge.Tags.ReviewAccessAsync());
        _source.Set("line/a", 100);
        _source.Set("line/b", 200);

        Assert.Equal("line/a", name);
        List<(string, TagStatus)> seen = [];
        while (seen.Count < 2)
        {
            Assert.True(await changes.MoveNextAsync().AsTask().WaitAsync(Loopback.Soon));
            seen.Add((changes.Current.Name, changes.Current.Sample.Status));
        }

        Assert.Equal([("line/a", TagStatus.BadUserAccessDenied), ("line/b", TagStatus.Good)], seen);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_source_that_is_slow_to_end_a_feed_leaves_no_session_a_right(int subscriber)
    {
        var source = new FaultySource();
        var removing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var removed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        source.Removing = () =>
        {
            removing.TrySetResult();
            return removed.Task;
        };
        source.Tags.Add("line/a", 1, isWritable: true);
        source.Tags.Add("line/b", 1, isWritable: true);
        Allow(TagAccess.Write, "line/a");
        Allow(TagAccess.Read, "line/b");
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), authorizer: Decide);
        await using TagClient first = await bridge.ConnectAsync();
        await using TagClient second = await bridge.ConnectAsync();
        TagClient[] clients = [first, second];
        TagList[] tags = [await first.ResolveAsync(["line/a", "line/b"]), await second.ResolveAsync(["line/a", "line/b"])];
        for (int i = 0; i < clients.Length; i++)
        {
            Assert.Equal([TagStatus.Good, TagStatus.Good], await clients[i].WriteAsync(tags[i], Values(2, 2)));
        }

        // Of different intervals: each has a feed of its own.
        (TagClient one, TagClient two) = (clients[subscriber], clients[1 - subscriber]);
        await using TagSubscription slow = await one.SubscribeAsync(
            await one.ResolveAsync(["line/a"]), new TagSubscriptionOptions { Interval = TimeSpan.FromMilliseconds(10) });
        await using TagSubscription other = await two.SubscribeAsync(
            await two.ResolveAsync(["line/b"]), new TagSubscriptionOptions { Interval = TimeSpan.FromMilliseconds(100) });
        await using IAsyncEnumerator<TagChange> changes = other.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal("line/b", await NextAsync(changes));

        _allowed.Clear();
        Task<IReadOnlyList<(Session, string)>> review = bridge.Tags.ReviewAccessAsync().AsTask();
        await removing.Task.InTimeAsync();
        TagStatus[][] written = [await first.WriteAsync(tags[0], Values(3, 3)), await second.WriteAsync(tags[1], Values(3, 3))];
        Assert.True(await changes.MoveNextAsync().AsTask().WaitAsync(Loopback.Soon));
        bool waits = !review.IsCompleted;
        removed.SetResult();

        Assert.All(written, static one => Assert.Equal([TagStatus.BadUserAccessDenied, TagStatus.BadUserAccessDenied], one));
        Assert.Equal(("line/b", TagStatus.BadUserAccessDenied), (changes.Current.Name, changes.Current.Sample.Status));
        Assert.True(waits);
        Assert.Equal(["line/a", "line/b"], (await review.InTimeAsync()).Select(static one => one.Item2).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task An_authorizer_that_throws_for_one_tag_leaves_no_right_to_others_in_a_review()
    {
        Allow(TagAccess.Read, "line/b");
        Allow(TagAccess.Read, "other/c");
        await using TagSubscription subscription = await _client.SubscribeAsync(
            await _client.ResolveAsync(["line/a", "line/b", "other/c"]));
        _allowed.TryRemove((TagAccess.Read, "line/b"), out _);
        _throwsFor = "line/a";

        IReadOnlyList<(Session, string Name)> ended = await _bridge.Tags.ReviewAccessAsync().InTimeAsync();

        Assert.Equal(["line/a", "line/b"], ended.Select(static one => one.Name).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_feed_that_fails_to_close_does_not_end_a_review()
    {
        FaultySource[] sources = [new FaultySource(), new FaultySource()];
        sources[0].Tags.Add("one", 1);
        sources[1].Tags.Add("two", 1);
        Allow(TagAccess.Read, "one");
        Allow(TagAccess.Read, "two");
        await using TagBridge bridge = await TagBridge.StartAsync(sources, new TagServerOptions(), authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["one", "two"]));
        Array.ForEach(sources, static source => source.CloseFailure = new InvalidOperationException("The test says so."));

        _allowed.Clear();
        IReadOnlyList<(Session, string Name)> ended = await bridge.Tags.ReviewAccessAsync().InTimeAsync();

        Assert.Equal(["one", "two"], ended.Select(static one => one.Name).Order(StringComparer.Ordinal));
        Assert.All(sources, static source => Assert.Equal(0, source.Feeds));
    }

    [Fact]
    public async Task A_review_between_the_rights_of_a_subscription_and_its_items_refuses_what_it_forbids()
    {
        Allow(TagAccess.Read, "line/b");
        List<(Session, string)> ended = [];
        bool reviews = false;
        TagBridge bridge = null!;
        bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), authorizer: (session, access, name, isAttempt) =>
        {
            if (reviews && name == "line/b")
            {
                // The right to the first tag has been asked already.
                reviews = false;
                _allowed.TryRemove((TagAccess.Read, "line/a"), out _);
                ValueTask<IReadOnlyList<(Session, string)>> review = bridge.Tags.ReviewAccessAsync();
                Assert.True(review.IsCompletedSuccessfully);
                ended.AddRange(review.Result);
            }

            return Decide(session, access, name, isAttempt);
        });
        await using TagBridge closing = bridge;
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["line/a", "line/b"]);
        reviews = true;

        await using TagSubscription subscription = await client.SubscribeAsync(tags);

        Assert.Equal([TagStatus.BadUserAccessDenied, TagStatus.Good], subscription.Statuses);
        Assert.False(reviews);
        Assert.Empty(ended);
        Assert.Empty(await bridge.Tags.ReviewAccessAsync());
    }

    [Fact]
    public async Task A_review_ends_what_a_session_may_no_longer_publish_until_it_may_again()
    {
        Allow(TagAccess.Publish, "mine/a");
        Allow(TagAccess.Publish, "mine/b");
        var published = new PublishedTagSource(authorizer: Decide);
        await using TagBridge bridge = await TagBridge.StartAsync(published);
        await using TagClient publisher = await bridge.ConnectAsync("publisher");
        await using TagClient reader = await bridge.ConnectAsync("reader");
        var own = new MemoryTagSource();
        own.Add("mine/a", 1, isWritable: true);
        own.Add("mine/b", 1);
        await using TagPublication publication = await publisher.PublishAsync(own);
        await UntilAsync(reader, "mine/a", 1);
        Assert.Empty(published.ReviewAccess());

        _allowed.TryRemove((TagAccess.Publish, "mine/a"), out _);
        (Session _, string name) = Assert.Single(published.ReviewAccess());
        Assert.Equal("mine/a", name);
        Assert.Empty(published.ReviewAccess());
        own.Set("mine/a", 2);
        own.Set("mine/b", 2);

        // In their order: what was pushed before is there or is not taken.
        await UntilAsync(reader, "mine/b", 2);
        TagSample kept = await reader.ReadAsync("mine/a");
        Assert.Equal((1, TagStatus.BadNoCommunication), (kept.Value.Get<int>(), kept.Status));
        Assert.Equal(TagStatus.BadNoCommunication, await reader.WriteAsync("mine/a", 5));

        Allow(TagAccess.Publish, "mine/a");
        Assert.Empty(published.ReviewAccess());
        own.Set("mine/a", 3);
        await UntilAsync(reader, "mine/a", 3);
        Assert.Equal(TagStatus.Good, await reader.WriteAsync("mine/a", 5));
        Assert.DoesNotContain(_attempts, static attempt => attempt.Name == "mine/a" && attempt.Access != TagAccess.Publish);
    }
}
