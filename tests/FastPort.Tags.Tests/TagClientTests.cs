using System.Collections.ObjectModel;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>A client and a server of tags over a socket, with tags in memory.</summary>
public sealed class TagClientTests : IAsyncLifetime
{
    private readonly MemoryTagSource _memory = new();
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _memory.Add("plant/pump/speed", 1500.5, isWritable: true);
        _memory.Add("plant/pump/state", "running", isWritable: true);
        _memory.Add("plant/count", 7);
        _memory.Add("plant/spectrum", TagValue.FromArray([1.5f, 2.5f, 3.5f]), isWritable: true);
        _memory.AddMethod("plant/add", static inputs => [inputs[0].Get<int>() + inputs[1].Get<int>()]);
        _bridge = await TagBridge.StartAsync(_memory);
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task Names_are_resolved_to_what_is_known_of_the_tags()
    {
        TagList tags = await _client.ResolveAsync(["plant/pump/speed", "plant/nothing", "plant/spectrum"]);

        Assert.Equal((TagType.Double, -1, true), (tags.Infos[0]!.Type, tags.Infos[0]!.Rank, tags.Infos[0]!.IsWritable));
        Assert.Null(tags.Infos[1]);
        Assert.Equal((TagType.Float, 1), (tags.Infos[2]!.Type, tags.Infos[2]!.Rank));
    }

    [Fact]
    public async Task Reads_come_in_order_with_type_status_and_times()
    {
        TagList tags = await _client.ResolveAsync(
            ["plant/count", "plant/pump/state", "plant/nothing", "plant/pump/speed", "plant/spectrum"]);

        TagSamples samples = await _client.ReadAsync(tags);

        Assert.Equal(7, samples[0].Value.Get<int>());
        Assert.Equal("running"u8, samples.GetBytes(1));
        Assert.Equal((TagStatus.BadNodeIdUnknown, true), (samples.GetStatus(2), samples[2].Value.IsNull));
        Assert.Equal(1500.5, samples[3].Value);
        Assert.Equal([1.5f, 2.5f, 3.5f], samples[4].Value.GetArray<float>()!);
        Assert.NotEqual(default, samples.GetSourceTime(0));
        Assert.True(samples.GetServerTime(0) >= samples.GetSourceTime(0));
    }

    [Fact]
    public async Task A_write_is_read_again_and_keeps_its_type()
    {
        Assert.Equal(TagStatus.Good, await _client.WriteAsync("plant/pump/speed", 900.0));
        Assert.Equal(900.0, (await _client.ReadAsync("plant/pump/speed", maxAge: TimeSpan.FromMinutes(1))).Value);
        Assert.Equal(TagStatus.BadTypeMismatch, await _client.WriteAsync("plant/pump/speed", "fast"));
        Assert.Equal(TagStatus.BadNotWritable, await _client.WriteAsync("plant/count", 8));
        Assert.Equal(TagStatus.BadNodeIdUnknown, await _client.WriteAsync("plant/nothing", 8));
        Assert.Equal(900.0, (await _client.ReadAsync("plant/pump/speed")).Value);
    }

    [Fact]
    public async Task Browsing_finds_folders_tags_and_methods()
    {
        List<TagBrowseNode> nodes = await _client.BrowseAsync("plant").ToListAsync();

        Assert.Equal(
            [
                new("plant/pump", "pump", TagBrowseKind.Folder, true),
                new("plant/count", "count", TagBrowseKind.Tag, false),
                new("plant/spectrum", "spectrum", TagBrowseKind.Tag, false),
                new("plant/add", "add", TagBrowseKind.Method, false),
            ],
            nodes);
        TagException e = await Assert.ThrowsAsync<TagException>(async () => await _client.BrowseAsync("factory").ToListAsync());
        Assert.Equal(TagStatus.BadNodeIdUnknown, e.Status);
    }

    [Fact]
    public async Task A_long_list_is_browsed_in_pages()
    {
        for (int i = 0; i < 2500; i++)
        {
            _memory.Add($"many/{i}", i);
        }

        List<TagBrowseNode> nodes = await _client.BrowseAsync("many").ToListAsync();

        Assert.Equal(Enumerable.Range(0, 2500).Select(static i => $"many/{i}"), nodes.Select(static node => node.Name));
    }

    [Fact]
    public async Task Any_number_of_lists_are_browsed_at_the_same_time()
    {
        for (int i = 0; i < 5; i++)
        {
            _memory.Add($"many/{i}", i);
        }

        await using TagBridge bridge = await TagBridge.StartAsync([_memory], new TagServerOptions { MaxNodesPerBrowse = 2 });
        await using TagClient client = await bridge.ConnectAsync();
        List<string>[] names = [[], [], [], [], [], []];
        IAsyncEnumerator<TagBrowseNode>[] lists = [.. names.Select(_ => client.BrowseAsync("many").GetAsyncEnumerator())];

        // The first page of each, then the others.
        foreach ((int i, IAsyncEnumerator<TagBrowseNode> list) in lists.Index())
        {
            Assert.True(await list.MoveNextAsync());
            names[i].Add(list.Current.Name);
        }

        foreach ((int i, IAsyncEnumerator<TagBrowseNode> list) in lists.Index().Reverse())
        {
            while (await list.MoveNextAsync())
            {
                names[i].Add(list.Current.Name);
            }
        }

        Assert.All(names, static all => Assert.Equal(["many/0", "many/1", "many/2", "many/3", "many/4"], all));
    }

    [Fact]
    public async Task Browsing_holds_up_no_other_use_of_the_table()
    {
        var nodes = new Nodes(() => Assert.True(Task.Run(() => _memory.Set("plant/count", 8)).Wait(Patience.Limit)));

        Assert.Equal(TagStatus.Good, await _memory.BrowseAsync("plant", nodes, TestContext.Current.CancellationToken));

        Assert.Equal(4, nodes.Count);
    }

    [Fact]
    public async Task A_method_is_called_with_inputs_and_returns_outputs()
    {
        Assert.Equal([5], await _client.CallAsync("plant/add", [2, 3]));
        TagException e = await Assert.ThrowsAsync<TagException>(async () => await _client.CallAsync("plant/subtract", []));
        Assert.Equal(TagStatus.BadMethodInvalid, e.Status);
    }

    [Fact]
    public async Task A_subscription_begins_with_the_present_samples_and_goes_on_with_changes()
    {
        TagList tags = await _client.ResolveAsync(["plant/count", "plant/pump/state"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);

        Assert.Equal(("plant/count", 7), await NextAsync<int>(changes));
        Assert.Equal(("plant/pump/state", "running"), await NextAsync<string>(changes));
        _memory.Set("plant/pump/state", "stopped");
        Assert.Equal(("plant/pump/state", "stopped"), await NextAsync<string>(changes));
    }

    [Fact]
    public async Task A_second_subscription_has_the_present_samples_too()
    {
        TagList tags = await _client.ResolveAsync(["plant/count"]);
        await using TagSubscription first = await _client.SubscribeAsync(tags);
        await using TagSubscription second = await _client.SubscribeAsync(tags);

        Assert.Equal(7, (await second.FirstAsync(TestContext.Current.CancellationToken)).Sample.Value);
    }

    [Fact]
    public async Task A_queue_keeps_every_change_and_counts_what_it_drops()
    {
        TagList tags = await _client.ResolveAsync(["plant/count"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(
            tags, new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 10 });
        await using IAsyncEnumerator<TagUpdate> updates = subscription.ReadUpdatesAsync().GetAsyncEnumerator();
        Assert.True(await updates.MoveNextAsync());
        List<int> seen = [];
        long dropped = 0;
        for (int i = 100; i < 1100; i++)
        {
            _memory.Set("plant/count", i);
        }

        while (seen.Count == 0 || seen[^1] != 1099)
        {
            Assert.True(await updates.MoveNextAsync());
            seen.AddRange(Enumerable.Range(0, updates.Current.Samples.Count).Select(row => updates.Current.Samples[row].Value.Get<int>()));
            dropped += updates.Current.Dropped;
        }

        Assert.Equal(1000, seen.Count + dropped);
        Assert.Equal(seen.Order(), seen);
    }

    [Fact]
    public async Task A_lost_source_is_told_and_its_return_too()
    {
        TagList tags = await _client.ResolveAsync(["plant/count"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        await NextAsync<int>(changes);

        _memory.IsConnected = false;
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal((7, TagStatus.BadNoCommunication), (changes.Current.Sample.Value.Get<int>(), changes.Current.Sample.Status));
        Assert.Equal(TagStatus.BadNoCommunication, (await _client.ReadAsync("plant/count")).Status);
        Assert.Equal(TagStatus.BadNoCommunication, await _client.WriteAsync("plant/pump/speed", 1.0));
        TagSample old = await _client.ReadAsync("plant/count", maxAge: TimeSpan.FromHours(1));
        Assert.Equal((7, TagStatus.BadNoCommunication), (old.Value.Get<int>(), old.Status));

        _memory.IsConnected = true;
        Assert.Equal(("plant/count", 7), await NextAsync<int>(changes));
    }

    [Fact]
    public async Task After_the_server_restarts_tags_are_resolved_and_subscribed_again()
    {
        TagList tags = await _client.ResolveAsync(["plant/count"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        await NextAsync<int>(changes);
        string endpoint = _bridge.Endpoint;

        await _bridge.DisposeAsync();
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TagStatus.BadNoCommunication, changes.Current.Sample.Status);
        _memory.Set("plant/count", 8);
        _bridge = await TagBridge.StartAsync([_memory], new TagServerOptions(), endpoint);

        Assert.Equal(("plant/count", 8), await NextAsync<int>(changes));
        Assert.Equal(8, (await _client.ReadAsync(tags))[0].Value);
    }

    [Fact]
    public async Task A_clock_of_the_source_that_is_set_back_does_not_hide_newer_values()
    {
        var clock = new SettableClock { Now = new DateTimeOffset(2026, 10, 25, 2, 59, 0, TimeSpan.Zero) };
        var device = new MemoryTagSource("device", clock);
        device.Add("level", 1, isWritable: true);
        await using TagBridge bridge = await TagBridge.StartAsync(device);
        await using TagClient client = await bridge.ConnectAsync();
        TimeSpan hour = TimeSpan.FromHours(1);
        Assert.Equal(1, (await client.ReadAsync("level")).Value);

        clock.Now -= hour;
        device.Set("level", 2);
        Assert.Equal(2, (await client.ReadAsync("level")).Value);
        await using TagSubscription subscription = await client.SubscribeAsync(
            await client.ResolveAsync(["level"]), new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(("level", 2), await NextAsync<int>(changes));

        // What is known comes from the feed, then from a read; both are older by their times.
        clock.Now -= hour;
        device.Set("level", 3);
        Assert.Equal(("level", 3), await NextAsync<int>(changes));
        Assert.Equal(3, (await client.ReadAsync("level", maxAge: hour)).Value);
        Assert.Equal(3, (await client.ReadAsync("level")).Value);
        clock.Now -= hour;
        device.Set("level", 4);
        Assert.Equal(("level", 4), await NextAsync<int>(changes));
        Assert.Equal(4, (await client.ReadAsync("level", maxAge: hour)).Value);
    }

    [Fact]
    public async Task A_name_that_is_known_later_is_read_and_watched_then()
    {
        TagList tags = await _client.ResolveAsync(["plant/count", "plant/new"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal(("plant/count", 7), await NextAsync<int>(changes));
        Assert.Equal([TagStatus.Good, TagStatus.BadNodeIdUnknown], subscription.Statuses);
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await _client.ReadAsync(tags)).GetStatus(1));

        _memory.Add("plant/new", 1, isWritable: true);

        // All present samples come with it, as after a reconnect.
        Assert.Equal(("plant/count", 7), await NextAsync<int>(changes));
        Assert.Equal(("plant/new", 1), await NextAsync<int>(changes));
        Assert.Equal([TagStatus.Good, TagStatus.Good], subscription.Statuses);
        Assert.Equal(1, (await _client.ReadAsync(tags))[1].Value);
        Assert.Equal(TagStatus.Good, await _client.WriteAsync("plant/new", 2));
        Assert.Equal(("plant/new", 2), await NextAsync<int>(changes));
    }

    [Theory]
    [InlineData(3, 100)]
    [InlineData(100, 1)]
    public async Task A_name_that_is_known_later_is_watched_also_if_the_session_may_not_have_two_subscriptions(int tags, int most)
    {
        await using var memory = new MemoryTagSource();
        memory.Add("count", 7);
        await using TagBridge bridge = await TagBridge.StartAsync(
            [memory],
            new TagServerOptions { MaxSubscribedTagsPerSession = tags, MaxSubscriptionsPerSession = most });
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["count", "new"]));
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.Equal(("count", 7), await NextAsync<int>(changes));

        memory.Add("new", 1);

        Assert.Equal(("count", 7), await NextAsync<int>(changes));
        Assert.Equal(("new", 1), await NextAsync<int>(changes));
        Assert.Equal([TagStatus.Good, TagStatus.Good], subscription.Statuses);
    }

    private static async Task<(string Name, T Value)> NextAsync<T>(IAsyncEnumerator<TagChange> changes)
    {
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TagStatus.Good, changes.Current.Sample.Status);
        return (changes.Current.Name, changes.Current.Sample.Value.Get<T>());
    }

    private sealed class Nodes(Action adding) : Collection<TagBrowseNode>
    {
        protected override void InsertItem(int index, TagBrowseNode item)
        {
            adding();
            base.InsertItem(index, item);
        }
    }

    private sealed class SettableClock : TimeProvider
    {
        public DateTimeOffset Now { get; set; }

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
