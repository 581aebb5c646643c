using Xunit;

namespace FastPort.Tags.Tests;

// Writes to tags that a client publishes: what the publisher answers, and one that does not.
public sealed partial class PublishedTagTests
{
    [Fact]
    public async Task A_write_is_a_request_to_the_publisher_whose_status_answers_it()
    {
        await _publisher.PublishAsync(_press);

        Assert.Equal(TagStatus.Good, await _client.WriteAsync("press/speed", 33.0));
        Assert.Equal(TagStatus.Good, await _client.WriteAsync("press/counts", TagValue.FromArray([7, 8])));
        Assert.Equal(TagStatus.BadTypeMismatch, await _client.WriteAsync("press/speed", 33));
        Assert.Equal(TagStatus.BadNotWritable, await _client.WriteAsync("press/state", "down"));

        Assert.Equal(TagValue.FromArray([7, 8]), (await _client.ReadAsync("press/counts")).Value);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_read_after_a_write_gets_what_was_written_also_if_the_sources_feed_is_slow(bool isSilent)
    {
        await using var source = new FaultySource { IsSilent = isSilent };
        source.Tags.Add("slow", 0, isWritable: true);
        await _publisher.PublishAsync(source);

        for (int i = 1; i <= 100; i++)
        {
            Assert.Equal(TagStatus.Good, await _client.WriteAsync("slow", i));
            Assert.Equal(i, (await _client.ReadAsync("slow")).Value.Get<int>());
        }
    }

    [Fact]
    public async Task A_publisher_that_does_not_answer_is_BadTimeout_and_one_that_has_gone_BadNoCommunication()
    {
        var stuck = new ControlledSource();
        await using TagClient other = await _bridge.ConnectAsync("stuck");
        await other.PublishAsync(stuck, new TagPublicationOptions { Names = ["1", "no number"] });

        // Long enough for the server to begin the write: it begins none whose deadline has passed.
        Task<TagStatus> write = _client.WriteAsync("1", 5, TimeSpan.FromMilliseconds(500)).AsTask();
        ControlledSource.Call call = await stuck.NextAsync();

        Assert.Equal(TagStatus.BadTimeout, await write);

        call.End.SetResult(TagStatus.BadUserAccessDenied);
        await other.DisposeAsync();
        await UntilAsync("1", TagStatus.BadNoCommunication);
        Assert.Equal(TagStatus.BadNoCommunication, await _client.WriteAsync("1", 6));
        Assert.Equal(1, stuck.Count);
    }

    [Fact]
    public async Task A_publisher_that_is_stuck_holds_up_no_write_to_another_one()
    {
        await using var source = new PublishedTagSource(options: new PublishedTagOptions { WriteTimeout = Loopback.Soon });
        await using TagBridge bridge = await TagBridge.StartAsync(
            [source], new TagServerOptions { MaxConcurrentWrites = 1, SourceTimeout = Loopback.Soon });
        await using TagClient other = await bridge.ConnectAsync("stuck");
        await using TagClient publisher = await bridge.ConnectAsync("press");
        await using TagClient client = await bridge.ConnectAsync();
        var stuck = new ControlledSource();
        await other.PublishAsync(stuck, new TagPublicationOptions { Names = ["1", "2"] });
        await publisher.PublishAsync(_press);
        Task<TagStatus> first = client.WriteAsync("1", 5).AsTask();
        ControlledSource.Call call = await stuck.NextAsync();
        Task<TagStatus> second = client.WriteAsync("2", 6).AsTask();

        // Those that come alone, and those that come together with one to the publisher that is stuck.
        Assert.Equal(TagStatus.Good, await client.WriteAsync("press/speed", 1.0, TimeSpan.FromSeconds(5)));
        var values = new TagSamples();
        values.Add(7);
        values.Add(2.0);
        Assert.Equal(
            [TagStatus.BadTimeout, TagStatus.Good],
            await client.WriteAsync(await client.ResolveAsync(["1", "press/speed"]), values, TimeSpan.FromSeconds(1)));
        Assert.Equal(2.0, (await client.ReadAsync("press/speed")).Value.Get<double>());

        Assert.False(first.IsCompleted || second.IsCompleted);
        call.End.SetResult(TagStatus.BadUserAccessDenied);
        Assert.Equal(TagStatus.BadUserAccessDenied, await first);
        (await stuck.NextAsync()).End.SetResult(TagStatus.BadUserAccessDenied);
        Assert.Equal(TagStatus.BadUserAccessDenied, await second);
    }

    [Fact]
    public async Task Of_one_call_for_several_publishers_a_stuck_one_costs_only_its_own_values()
    {
        await using var source = new PublishedTagSource(options: new() { WriteTimeout = TimeSpan.FromSeconds(1) });
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using TagClient other = await bridge.ConnectAsync("stuck");
        await using TagClient publisher = await bridge.ConnectAsync("press");
        var stuck = new ControlledSource();
        await other.PublishAsync(stuck, new TagPublicationOptions { Names = ["1"] });
        await publisher.PublishAsync(_press);
        var infos = new TagInfo?[2];
        await source.ResolveAsync(["1", "press/speed"], infos, _limit.Token);
        var values = new TagSamples();
        values.Add(7);
        values.Add(2.0);
        var statuses = new TagStatus[2];

        Assert.Equal(TagStatus.Good, await source.WriteAsync([.. infos.Select(static one => one!.Tag)], values, statuses, _limit.Token));

        Assert.Equal([TagStatus.BadTimeout, TagStatus.Good], statuses);
        (await stuck.NextAsync()).End.SetResult(TagStatus.BadUserAccessDenied);
    }
}
