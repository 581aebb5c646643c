using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Feeds that do not end closing. The clock stands still unless a test moves it.</summary>
public sealed class SourceCloseTests : IAsyncLifetime
{
    private readonly FakeTimeProvider _time = new();
    private readonly LossySource _source = new();
    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _source.Closing = _closed.Task;
        _bridge = await TagBridge.StartAsync([_source], new(), time: _time);
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _closed.TrySetResult();
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task A_feed_that_has_ended_and_does_not_close_is_replaced_all_the_same()
    {
        await using TagSubscription subscription = await SubscribeAsync(10);
        LossySource.Feed first = Assert.Single(_source.Feeds);

        first.End(TagStatus.BadNoCommunication);

        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return _source.Feeds.Count == 2;
            },
            "another feed is opened");
        Assert.True(first.IsDisposed);
        _closed.SetResult();
    }

    [Fact]
    public async Task A_feed_that_does_not_close_keeps_no_other_open()
    {
        await using TagSubscription subscription = await SubscribeAsync(10);
        await using TagSubscription other = await SubscribeAsync(100);
        Assert.Equal(2, _source.Feeds.Count);

        Task closing = _bridge.CloseTagsAsync().AsTask();

        await Patience.UntilAsync(() => _source.Feeds.All(static feed => feed.IsDisposed), "both feeds are closed");
        Assert.False(closing.IsCompleted);
        _closed.SetResult();
        await closing.InTimeAsync();
    }

    [Fact]
    public async Task Who_subscribes_when_the_tags_are_closed_opens_no_feed()
    {
        await using TagSubscription subscription = await SubscribeAsync(10);
        _closed.SetResult();
        await _bridge.CloseTagsAsync();

        await using TagSubscription same = await SubscribeAsync(10);
        await using TagSubscription other = await SubscribeAsync(100);

        Assert.Equal([TagStatus.BadShutdown], same.Statuses);
        Assert.Equal([TagStatus.BadShutdown], other.Statuses);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(1, _source.Opens);
        Assert.True(Assert.Single(_source.Feeds).IsDisposed);
    }

    private async Task<TagSubscription> SubscribeAsync(int interval) => await _client.SubscribeAsync(
        await _client.ResolveAsync(["1"]), new() { Interval = TimeSpan.FromMilliseconds(interval) });
}
