using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>What subscribers are told when a source is away, has lost changes, or its feed has ended.</summary>
public sealed class SourceLossTests : IAsyncLifetime
{
    private readonly LossySource _source = new();
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _bridge = await TagBridge.StartAsync(_source);
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task A_feed_that_has_ended_is_told_and_replaced()
    {
        var reason = new TagStatus(0x8077_0000);
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed first = Assert.Single(_source.Feeds);
        first.Report(1, 5);
        await UntilAsync(changes, TagStatus.Good, 5);

        first.End(reason);

        await UntilAsync(changes, reason, 5);
        await Patience.UntilAsync(() => _source.Feeds.Count == 2, "another feed is opened");
        LossySource.Feed second = _source.Feeds.Last();
        await Patience.UntilAsync(() => second.Tags.ContainsKey(1), "the tag is in it");
        second.Report(1, 6);
        await UntilAsync(changes, TagStatus.Good, 6);
        await Patience.UntilAsync(() => first.IsDisposed, "the first one is closed");
    }

    [Fact]
    public async Task Who_subscribes_after_a_feed_has_ended_gets_the_reason_until_another_one_is_open()
    {
        var reason = new TagStatus(0x8077_0000);
        var clock = new FakeTimeProvider();
        await using TagBridge bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription before = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        LossySource.Feed first = Assert.Single(_source.Feeds);
        first.Report(1, 5);

        first.End(reason);
        await Patience.UntilAsync(() => first.IsDisposed, "the feed is closed");
        await using TagSubscription after = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        await using IAsyncEnumerator<TagChange> changes = after.GetAsyncEnumerator(Patience.Token);

        Assert.Equal([reason], after.Statuses);
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal((reason, (TagValue)5), (changes.Current.Sample.Status, changes.Current.Sample.Value));
        Assert.Single(_source.Feeds);
        _source.Values[1] = 6;
        Task good = UntilAsync(changes, TagStatus.Good, 6);
        await Patience.UntilAsync(
            () =>
            {
                // More than once: the wait for the next feed, or for the end of the interval, may not have begun yet.
                clock.Advance(TimeSpan.FromSeconds(1));
                return good.IsCompleted;
            },
            "another feed is opened and reports");
        await good;
        Assert.Equal(2, _source.Feeds.Count);
    }

    [Fact]
    public async Task A_tag_that_is_removed_while_the_source_is_away_is_removed_when_it_is_back()
    {
        await using TagSubscription other = await SubscribeAsync("2");
        TagSubscription subscription = await SubscribeAsync("1");
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        _source.SetConnected(false);

        await subscription.DisposeAsync();
        Assert.Equal([1, 2], feed.Tags.Keys.Order());
        _source.SetConnected(true);

        await Patience.UntilAsync(() => feed.Tags.Keys.SequenceEqual([2]), "the tag is removed");
    }

    [Fact]
    public async Task What_a_feed_reports_while_the_source_is_away_is_not_the_last_word()
    {
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        feed.Report(1, 5);
        await UntilAsync(changes, TagStatus.Good, 5);
        _source.SetConnected(false);
        await UntilAsync(changes, TagStatus.BadNoCommunication, 5);

        feed.Report(1, 6);

        await UntilAsync(changes, TagStatus.BadNoCommunication, 6);
        _source.Values[1] = 7;
        _source.SetConnected(true);
        await UntilAsync(changes, TagStatus.Good, 7);
    }

    [Fact]
    public async Task A_tag_whose_device_alone_is_away_is_told_and_asked_for_again()
    {
        _source.Refusals[1] = TagStatus.BadNoCommunication;
        _source.Values[1] = 5;
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.Equal([TagStatus.BadNoCommunication], subscription.Statuses);

        _source.Refusals.Clear();

        await UntilAsync(changes, TagStatus.Good, 5);
        Assert.Equal([1], Assert.Single(_source.Feeds).Tags.Keys);
    }

    [Fact]
    public async Task A_tag_that_stays_away_and_one_that_is_not_there_yet_are_asked_for_less_and_less_often()
    {
        var clock = new FakeTimeProvider();
        _source.Refusals[1] = TagStatus.BadNoCommunication;
        _source.Refusals[2] = TagStatus.BadNodeIdUnknown;
        await using TagBridge bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2", "3", "4"]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags);
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        Assert.Equal([1, 2, 3, 4], Assert.Single(feed.Asked));
        feed.Asked.Clear();

        Assert.Equal([1, 3, 7, 15, 31, 61, 91], SecondsOfRetries(100));

        // A new connection may have brought both.
        _source.SetConnected(false);
        _source.SetConnected(true);
        Assert.Equal([1, 2], Assert.Single(feed.Asked));
        feed.Asked.Clear();
        Assert.Equal([1, 3, 7, 15], SecondsOfRetries(20));

        // Another one is away, too.
        _source.Refusals[5] = TagStatus.BadNoCommunication;
        await using TagSubscription other = await client.SubscribeAsync(await client.ResolveAsync(["5"]));
        Assert.Equal([5], Assert.Single(feed.Asked));
        feed.Asked.Clear();
        Assert.Equal([1, 3, 7, 15], SecondsOfRetries(20, 1, 2, 5));

        // Somebody else wants it. That changes were lost is no news of it.
        await using TagSubscription another = await client.SubscribeAsync(await client.ResolveAsync(["5"]));
        Assert.Equal([TagStatus.BadNoCommunication], another.Statuses);
        Assert.Equal([1, 3, 7], SecondsOfRetries(10, 1, 2, 5));
        feed.Listener.OnValuesLost();
        Assert.Empty(feed.Asked);

        // The source has got one of them.
        _source.Refusals.TryRemove(2, out _);
        feed.Listener.OnTagsAppeared();
        Assert.Equal([1, 2, 5], Assert.Single(feed.Asked));
        feed.Asked.Clear();
        Assert.Equal([2, 3, 4], feed.Tags.Keys.Order());
        Assert.Equal([1, 3, 7], SecondsOfRetries(10, 1, 5));
        _source.Refusals.Clear();
        Assert.Equal([5], SecondsOfRetries(100, 1, 5));
        Assert.Equal([1, 2, 3, 4, 5], feed.Tags.Keys.Order());

        int[] SecondsOfRetries(int seconds, params int[] asked)
        {
            List<int> found = [];
            for (int second = 1; second <= seconds; second++)
            {
                clock.Advance(TimeSpan.FromSeconds(1));
                if (!feed.Asked.IsEmpty)
                {
                    Assert.Equal(asked.Length == 0 ? [1, 2] : asked, Assert.Single(feed.Asked));
                    feed.Asked.Clear();
                    found.Add(second);
                }
            }

            return [.. found];
        }
    }

    [Fact]
    public async Task A_feed_that_cannot_be_opened_is_asked_for_less_and_less_often()
    {
        var clock = new FakeTimeProvider();
        _source.OpenFailure = new TagException(TagStatus.BadTooManyOperations, "on purpose");
        await using TagBridge bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        Assert.Equal([TagStatus.BadTooManyOperations], subscription.Statuses);

        List<int> opens = [];
        for (int second = 1; second <= 20; second++)
        {
            int before = _source.Opens;
            clock.Advance(TimeSpan.FromSeconds(1));
            opens.AddRange(Enumerable.Repeat(second, _source.Opens - before));
        }

        Assert.Equal([1, 3, 7, 15], opens);
        _source.OpenFailure = null;
        clock.Advance(TimeSpan.FromSeconds(11));
        Assert.Equal([1], Assert.Single(_source.Feeds).Tags.Keys);
    }

    [Fact]
    public async Task A_feed_that_takes_no_tags_is_asked_soon_when_it_says_that_it_has_lost_changes()
    {
        var clock = new FakeTimeProvider();
        await using TagBridge bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription first = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        _source.AddFailure = new TagException(TagStatus.BadTooManyOperations, "on purpose");
        await using TagSubscription second = await client.SubscribeAsync(await client.ResolveAsync(["2"]));
        Assert.Equal([TagStatus.BadTooManyOperations], second.Statuses);
        for (int i = 0; i < 40; i++)
        {
            clock.Advance(TimeSpan.FromSeconds(1));
        }

        _source.AddFailure = null;
        Assert.Equal([1], feed.Tags.Keys);
        feed.Listener.OnValuesLost();

        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal([1, 2], feed.Tags.Keys.Order());
    }

    [Fact]
    public async Task When_changes_may_have_been_lost_the_values_are_read()
    {
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        feed.Report(1, 5);
        await UntilAsync(changes, TagStatus.Good, 5);

        _source.Values[1] = 6;
        feed.Listener.OnValuesLost();

        await UntilAsync(changes, TagStatus.Good, 6);
    }

    [Fact]
    public async Task The_end_of_a_feed_that_is_not_opened_again_stays_told_when_the_source_is_back()
    {
        var refusal = new TagStatus(0x8077_0000);
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed first = Assert.Single(_source.Feeds);
        first.Report(1, 5);
        await UntilAsync(changes, TagStatus.Good, 5);
        _source.SetConnected(false);
        _source.OpenFailure = new TagException(refusal, "on purpose");
        first.End(TagStatus.BadNoCommunication);
        await Patience.UntilAsync(() => first.IsDisposed, "the feed is closed");

        _source.Values[1] = 6;
        _source.SetConnected(true);
        await UntilAsync(changes, refusal, 6);
        await using TagSubscription second = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> others = second.GetAsyncEnumerator(Patience.Token);
        Assert.True(await others.MoveNextAsync());
        Assert.Equal(refusal, others.Current.Sample.Status);

        // What has changed before the feed is there again is read.
        _source.Values[1] = 7;
        _source.OpenFailure = null;
        await UntilAsync(changes, TagStatus.Good, 7);
    }

    [Fact]
    public async Task A_feed_that_fails_to_tell_its_end_is_replaced()
    {
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed first = Assert.Single(_source.Feeds);
        first.Report(1, 5);

        first.Fail();

        await UntilAsync(changes, TagStatus.BadInternalError, 5);
        await Patience.UntilAsync(() => _source.Feeds.Count == 2, "another feed is opened");
    }

    [Fact]
    public async Task However_often_changes_are_lost_one_read_is_under_way_and_one_follows()
    {
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _source.Reading = async number =>
        {
            await release.Task.InTimeAsync();
            _source.Values[1] = number;
        };

        for (int i = 0; i < 100; i++)
        {
            feed.Listener.OnValuesLost();
        }

        Assert.Equal(1, _source.Reads);
        release.SetResult();
        await UntilAsync(changes, TagStatus.Good, 2);
        Assert.Equal(2, _source.Reads);
        feed.Listener.OnValuesLost();
        await UntilAsync(changes, TagStatus.Good, 3);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Values_that_cannot_be_read_after_a_loss_have_the_reason_until_they_can(bool isReconnect)
    {
        await using TagSubscription subscription = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        LossySource.Feed feed = Assert.Single(_source.Feeds);
        feed.Report(1, 5);
        await UntilAsync(changes, TagStatus.Good, 5);
        bool fails = true;
        _source.Reading = _ => Volatile.Read(ref fails) ? throw new IOException("The test says so.") : Task.CompletedTask;
        _source.Values[1] = 6;

        if (isReconnect)
        {
            _source.SetConnected(false);
            _source.SetConnected(true);
        }
        else
        {
            feed.Listener.OnValuesLost();
        }

        await UntilAsync(changes, TagStatus.BadInternalError, 5);
        await using TagSubscription second = await SubscribeAsync("1");
        await using IAsyncEnumerator<TagChange> others = second.GetAsyncEnumerator(Patience.Token);
        Assert.True(await others.MoveNextAsync());
        Assert.Equal(TagStatus.BadInternalError, others.Current.Sample.Status);
        Volatile.Write(ref fails, false);
        await UntilAsync(changes, TagStatus.Good, 6);
        await UntilAsync(others, TagStatus.Good, 6);
    }

    private async Task<TagSubscription> SubscribeAsync(string name) =>
        await _client.SubscribeAsync(
            await _client.ResolveAsync([name]), new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 10 });

    private static async Task UntilAsync(IAsyncEnumerator<TagChange> changes, TagStatus status, int value)
    {
        do
        {
            Assert.True(await changes.MoveNextAsync());
        }
        while (changes.Current.Sample.Status != status || changes.Current.Sample.Value != value);
    }
}
