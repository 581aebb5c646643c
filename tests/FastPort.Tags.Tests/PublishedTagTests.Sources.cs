using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Sources that fail while their tags are published.</content>
public sealed partial class PublishedTagTests
{
    [Fact]
    public async Task When_a_feed_has_ended_its_tags_have_the_reason_until_another_one_is_open()
    {
        var reason = new TagStatus(0x8077_0000);
        await using var source = new LossySource { Values = { [1] = 5 } };
        TagPublication publication = await _publisher.PublishAsync(source, new TagPublicationOptions { Names = ["1"] });
        await using TagSubscription subscription = await _client.SubscribeAsync(
            await _client.ResolveAsync(["1"]), new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 10 });
        LossySource.Feed first = Assert.Single(source.Feeds);
        first.Report(1, 5);
        await subscription.FirstAsync(static change => IsGood(change, 5), _limit.Token);

        source.OpenFailure = new TagException(TagStatus.BadShutdown, "The test says so.");
        first.End(reason);
        await subscription.FirstAsync(change => change.Sample.Status == reason, _limit.Token);

        // What has changed meanwhile is read, and what changes later is reported.
        await Patience.UntilAsync(() => source.Opens == 2, "another feed is asked for");
        source.Values[1] = 6;
        source.OpenFailure = null;
        await subscription.FirstAsync(static change => IsGood(change, 6), _limit.Token);
        Assert.True(first.IsDisposed);
        source.Feeds.Last().Report(1, 7);
        await subscription.FirstAsync(static change => IsGood(change, 7), _limit.Token);

        await publication.DisposeAsync();
        Assert.Equal((true, false), (source.Feeds.Last().IsDisposed, source.IsObserved));
    }

    [Fact]
    public async Task When_a_feed_may_have_lost_changes_the_values_are_read()
    {
        await using var source = new LossySource { Values = { [1] = 5 } };
        await _publisher.PublishAsync(source, new TagPublicationOptions { Names = ["1"] });
        LossySource.Feed feed = Assert.Single(source.Feeds);
        feed.Report(1, 5);
        await UntilAsync("1", 5);

        source.Values[1] = 6;
        feed.Listener.OnValuesLost();

        await UntilAsync("1", 6);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_source_that_is_stuck_or_throws_is_told_and_read_again(bool isStuck)
    {
        await using var source = new LossySource { Values = { [1] = 5 } };
        await using TagClient publisher = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = _bridge.Endpoint,
            RoutingId = "stuck",
            RequestTimeout = TimeSpan.FromSeconds(2),
        });
        await publisher.PublishAsync(source, new TagPublicationOptions { Names = ["1"] });
        await using TagSubscription subscription = await _client.SubscribeAsync(
            await _client.ResolveAsync(["1"]), new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 10 });
        LossySource.Feed feed = Assert.Single(source.Feeds);
        feed.Report(1, 5);
        await subscription.FirstAsync(static change => IsGood(change, 5), _limit.Token);
        var never = new TaskCompletionSource();
        source.Reading = number => number > 1 ? Task.CompletedTask
            : isStuck ? never.Task
            : throw new InvalidOperationException("The test says so.");
        source.Values[1] = 6;

        feed.Listener.OnValuesLost();

        TagStatus reason = isStuck ? TagStatus.BadTimeout : TagStatus.BadInternalError;
        await subscription.FirstAsync(change => change.Sample.Status == reason, _limit.Token);
        await subscription.FirstAsync(static change => IsGood(change, 6), _limit.Token);
    }

    [Fact]
    public async Task What_a_feed_reports_while_the_source_is_away_is_not_published_as_good()
    {
        await using var source = new LossySource { Values = { [1] = 5 } };
        await _publisher.PublishAsync(source, new TagPublicationOptions { Names = ["1"] });
        var marker = new MemoryTagSource();
        marker.Add("marker", 0);
        await _publisher.PublishAsync(marker);
        LossySource.Feed feed = Assert.Single(source.Feeds);
        feed.Report(1, 5);
        await UntilAsync("1", 5);
        source.SetConnected(false);
        await UntilAsync("1", TagStatus.BadNoCommunication);

        feed.Report(1, 6);

        // Pushes of a session are taken in their order.
        marker.Set("marker", 1);
        await UntilAsync("marker", 1);
        TagSample kept = await _client.ReadAsync("1");
        Assert.Equal((TagStatus.BadNoCommunication, 5), (kept.Status, kept.Value.Get<int>()));
        source.Values[1] = 7;
        source.SetConnected(true);
        await UntilAsync("1", 7);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_feed_that_does_not_close_keeps_neither_the_publication_nor_the_client_from_its_end(bool isStuck)
    {
        await using var source = new FaultySource();
        source.Tags.Add("one", 1);
        var never = new TaskCompletionSource();
        source.Closing = () => isStuck ? never.Task : throw new InvalidOperationException("The test says so.");
        TagClient publisher = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = _bridge.Endpoint,
            RoutingId = "stuck",
            RequestTimeout = TimeSpan.FromSeconds(2),
        });
        TagPublication publication = await publisher.PublishAsync(source);
        await UntilAsync("one", 1);

        await publication.DisposeAsync().InTimeAsync();
        await UntilAsync("one", TagStatus.BadNoCommunication);
        await publisher.PublishAsync(source);
        await publisher.DisposeAsync().InTimeAsync();

        Assert.False(publisher.IsConnected);
        Assert.Equal((0, false), (source.Feeds, source.IsObserved));
        never.SetResult();
    }

    private static bool IsGood(in TagChange change, int value) => change.Sample.Status.IsGood && change.Sample.Value == value;
}
