using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Samples without source times that overtake each other, and who confirms them. The clock moves when told.</content>
public sealed partial class TagServerTests
{
    [Fact]
    public async Task What_was_polled_before_a_write_is_not_taken_for_newer_than_a_read_after_it()
    {
        var clock = new FakeTimeProvider();
        var source = new ControlledSource();
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        clock.Advance(TimeSpan.FromSeconds(1));
        Task<TagStatus> write = client.WriteAsync("1", 5).AsTask();
        (await source.NextAsync()).End.SetResult(TagStatus.Good);
        await write;
        clock.Advance(TimeSpan.FromSeconds(1));
        Task<TagSamples> read = ReadAsync(client, default, "1");
        (await source.NextAsync()).End.SetResult(TagStatus.Good);
        Assert.Equal([1], Numbers(await read));

        // The poll was sent at the beginning.
        var samples = new TagSamples();
        samples.Add(4);
        source.Listener!.OnChanges([1], samples, clock.Elapsed);

        Task<TagSamples> again = ReadAsync(client, Hour, "1");
        (await source.NextAsync()).End.SetResult(TagStatus.Good);
        Assert.Equal([1], Numbers(await again));
    }

    [Fact]
    public async Task A_read_that_ends_late_does_not_replace_what_a_later_one_has_brought()
    {
        var clock = new FakeTimeProvider();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var source = new LossySource { Values = { [1] = 5 } };
        source.Reading = number =>
        {
            begun.TrySetResult();
            return number == 1 ? release.Task : Task.CompletedTask;
        };
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        Task<TagSamples> first = ReadAsync(client, default, "1");
        await begun.Task.InTimeAsync();
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal([5], Numbers(await ReadAsync(client, default, "1")));

        // What the first one brings was so before.
        source.Values[1] = 4;
        release.SetResult();

        Assert.Equal([5], Numbers(await first));
        Assert.Equal([5], Numbers(await ReadAsync(client, Hour, "1")));
        Assert.Equal(2, source.Reads);
    }

    [Fact]
    public async Task A_tag_of_two_feeds_is_confirmed_by_the_other_one_when_the_first_has_it_no_more()
    {
        var clock = new FakeTimeProvider();
        await using var source = new LossySource { Values = { [1] = 5 } };
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), time: clock);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1"]);
        TagSubscription first = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using TagSubscription second = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(100) });
        LossySource.Feed[] feeds = [.. source.Feeds];
        Assert.Equal(2, feeds.Length);
        Array.ForEach(feeds, static feed => feed.Report(1, 5));

        await first.DisposeAsync();
        clock.Advance(TimeSpan.FromMinutes(1));
        feeds[1].Listener.OnChanges([], new TagSamples());

        Assert.Equal([5], Numbers(await ReadAsync(client, TimeSpan.FromSeconds(1), "1")));
        Assert.Equal(0, source.Reads);
    }
}
