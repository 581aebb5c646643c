using System.Collections.Concurrent;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>A server of tags whose program decides who may do what with which tag.</summary>
public sealed partial class TagAuthorizerTests : IAsyncLifetime
{
    private readonly MemoryTagSource _source = new();
    private readonly ConcurrentDictionary<(TagAccess Access, string Name), bool> _allowed = new();
    private readonly ConcurrentQueue<(TagAccess Access, string Name)> _attempts = new();
    private volatile string? _throwsFor;
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _source.Add("line/a", 1, isWritable: true);
        _source.Add("line/b", 2, isWritable: true);
        _source.Add("other/c", 3, isWritable: true);
        Allow(TagAccess.Read, "line/a");
        Allow(TagAccess.Write, "line/b");
        _bridge = await TagBridge.StartAsync([_source], new TagServerOptions(), authorizer: Decide);
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task A_tag_is_read_and_written_by_who_may()
    {
        TagList tags = await _client.ResolveAsync(["line/a", "line/b", "other/c", "nothing"]);

        TagSamples read = await _client.ReadAsync(tags);
        TagStatus[] written = await _client.WriteAsync(tags, Values(11, 12, 13, 14));

        Assert.Equal(
            [TagStatus.Good, TagStatus.BadUserAccessDenied, TagStatus.BadUserAccessDenied, TagStatus.BadUserAccessDenied],
            Enumerable.Range(0, 4).Select(i => read[i].Status));
        Assert.Equal(
            [TagStatus.BadUserAccessDenied, TagStatus.Good, TagStatus.BadUserAccessDenied, TagStatus.BadUserAccessDenied], written);
        Assert.Equal((true, false), (tags.Infos[0]!.IsReadable, tags.Infos[0]!.IsWritable));
        Assert.Equal((false, true), (tags.Infos[1]!.IsReadable, tags.Infos[1]!.IsWritable));
        Assert.Null(tags.Infos[2]);
        Assert.Equal(TagStatus.BadUserAccessDenied, (await _client.ReadAsync("other/c")).Status);

        // A tag that does not exist looks the same as one that may not be used.
        Assert.Equal(TagStatus.BadUserAccessDenied, (await _client.ReadAsync("nothing")).Status);
    }

    [Fact]
    public async Task What_is_only_asked_is_no_attempt_and_what_is_allowed_is_asked_once()
    {
        TagList tags = await _client.ResolveAsync(["line/a", "line/b"]);
        Assert.Empty(_attempts);

        for (int i = 0; i < 3; i++)
        {
            await _client.ReadAsync(tags);
        }

        Assert.Equal(1, _attempts.Count(static a => a == (TagAccess.Read, "line/a")));
        Assert.Equal(3, _attempts.Count(static a => a == (TagAccess.Read, "line/b")));
    }

    [Fact]
    public async Task Browsing_shows_what_may_be_seen()
    {
        Allow(TagAccess.Browse, "line");
        Allow(TagAccess.Browse, "line/b");

        List<string> names = [];
        await foreach (TagBrowseNode node in _client.BrowseAsync(string.Empty))
        {
            names.Add(node.Name);
        }

        await foreach (TagBrowseNode node in _client.BrowseAsync("line"))
        {
            names.Add(node.Name);
        }

        Assert.Equal(["line", "line/b"], names);

        // A path that exists looks the same as one that does not.
        foreach (string path in (string[])["other", "nothing", "line/a", "line/nothing"])
        {
            TagException e = await Assert.ThrowsAsync<TagException>(async () => await _client.BrowseAsync(path).ToListAsync());
            Assert.Equal(TagStatus.BadNodeIdUnknown, e.Status);
        }
    }

    [Fact]
    public async Task Pages_have_and_count_only_what_may_be_seen()
    {
        Allow(TagAccess.Browse, "many");
        for (int i = 0; i < 9; i++)
        {
            _source.Add($"many/{i}", i);
            _ = i % 2 == 0 && _allowed.TryAdd((TagAccess.Browse, $"many/{i}"), true);
        }

        await using TagBridge bridge = await TagBridge.StartAsync(
            [_source], new TagServerOptions { MaxNodesPerBrowse = 2 }, authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();

        Assert.Equal(
            ["many/0", "many/2", "many/4", "many/6", "many/8"],
            await client.BrowseAsync("many").Select(static node => node.Name).ToListAsync());
    }

    [Fact]
    public async Task A_method_is_called_by_who_may()
    {
        TagException e = await Assert.ThrowsAsync<TagException>(async () => await _client.CallAsync("method", []));
        Assert.Equal(TagStatus.BadUserAccessDenied, e.Status);

        Allow(TagAccess.Call, "method");
        e = await Assert.ThrowsAsync<TagException>(async () => await _client.CallAsync("method", []));

        Assert.Equal(TagStatus.BadMethodInvalid, e.Status);
    }

    [Fact]
    public async Task An_authorizer_that_throws_leaves_no_subscription_behind()
    {
        await using TagBridge bridge = await TagBridge.StartAsync(
            [_source], new TagServerOptions { MaxSubscriptionsPerSession = 1 }, authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["line/a", "line/b"]);
        _throwsFor = "line/b";
        await Assert.ThrowsAsync<RequestFailedException>(() => client.SubscribeAsync(tags).AsTask());
        _throwsFor = null;

        await using TagSubscription subscription = await client.SubscribeAsync(tags);

        Assert.Equal([TagStatus.Good, TagStatus.BadUserAccessDenied], subscription.Statuses);
    }

    [Fact]
    public async Task An_authorizer_that_throws_has_nothing_of_a_request_written_and_holds_up_no_other_write()
    {
        var source = new ControlledSource();
        Allow(TagAccess.Write, "1");
        Allow(TagAccess.Write, "2");
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2"]);
        _throwsFor = "2";
        await Assert.ThrowsAsync<RequestFailedException>(() => client.WriteAsync(tags, Values(11, 12)).AsTask());

        Task<TagStatus> write = client.WriteAsync("1", 13).AsTask();
        ControlledSource.Call call = await source.NextAsync();
        call.End.SetResult(TagStatus.Good);

        Assert.Equal([13], call.Values);
        Assert.Equal(TagStatus.Good, await write.InTimeAsync());
        Assert.Equal(1, source.Count);
    }

    [Fact]
    public async Task A_tag_that_its_source_has_only_later_is_not_reported_to_who_may_no_longer_read_it()
    {
        var clock = new FakeClock();
        var feed = new LateFeed();
        var source = new ControlledSource { Feeds = (_, _) => feed };
        Allow(TagAccess.Read, "1");
        await using TagBridge bridge = await TagBridge.StartAsync(
            [source],
            new TagServerOptions(),
            latencies: new LatencyStats(LatencyRole.Server, time: clock),
            authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["1"]));
        Assert.Equal([TagStatus.BadTimeout], subscription.Statuses);

        // The source is asked again, and takes its time.
        clock.Advance(TimeSpan.FromSeconds(1));
        await feed.IsAsked.Task.InTimeAsync();
        _allowed.Clear();
        Task<IReadOnlyList<(Session, string Name)>> review = bridge.Tags.ReviewAccessAsync().AsTask();
        feed.End.SetResult();

        Assert.Equal("1", Assert.Single(await review.InTimeAsync()).Name);
        Assert.Empty(await bridge.Tags.ReviewAccessAsync());
        Assert.Empty(feed.Tags);
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TagStatus.BadUserAccessDenied, changes.Current.Sample.Status);
    }

    [Fact]
    public async Task A_right_that_ends_while_its_tag_is_being_subscribed_to_is_over()
    {
        using var source = new StuckFeedSource();
        Allow(TagAccess.Read, "1");
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions(), authorizer: Decide);
        await using TagClient client = await bridge.ConnectAsync();
        Task<TagSubscription> subscribing = client.SubscribeAsync(await client.ResolveAsync(["1"])).AsTask();
        await source.Asked;
        _allowed.Clear();

        Task<IReadOnlyList<(Session, string Name)>> review = bridge.Tags.ReviewAccessAsync().AsTask();
        source.Release();

        Assert.Equal("1", Assert.Single(await review.InTimeAsync()).Name);
        Assert.Empty(await bridge.Tags.ReviewAccessAsync());
        await using TagSubscription subscription = await subscribing.InTimeAsync();
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(TagStatus.BadUserAccessDenied, changes.Current.Sample.Status);
    }

    [Fact]
    public async Task Tags_are_published_by_who_may()
    {
        var published = new PublishedTagSource(authorizer: (_, access, name, _) => access == TagAccess.Publish && name == "mine/a");
        await using TagBridge bridge = await TagBridge.StartAsync(published);
        await using TagClient client = await bridge.ConnectAsync("publisher");
        var own = new MemoryTagSource();
        own.Add("mine/a", 1);
        own.Add("mine/b", 2);

        await using TagPublication publication = await client.PublishAsync(own, new TagPublicationOptions { Names = ["mine/a", "mine/b"] });

        Assert.Equal([TagStatus.Good, TagStatus.BadUserAccessDenied], publication.Statuses);
    }

    private static Task UntilAsync(TagClient client, string tag, int value) => Patience.UntilAsync(
        async () =>
        {
            TagSample sample = await client.ReadAsync(tag);
            return sample.Status.IsGood && sample.Value.Get<int>() == value;
        },
        $"{tag} is {value}");

    private bool Decide(Session session, TagAccess access, string name, bool isAttempt)
    {
        if (isAttempt)
        {
            _attempts.Enqueue((access, name));
        }

        return name == _throwsFor ? throw new InvalidOperationException("The test says so.") : _allowed.ContainsKey((access, name));
    }

    private void Allow(TagAccess access, string name) => _allowed[(access, name)] = true;

    private static async Task<string> NextAsync(IAsyncEnumerator<TagChange> changes)
    {
        Assert.True(await changes.MoveNextAsync().AsTask().WaitAsync(Loopback.Soon));
        return changes.Current.Name;
    }

    private static TagSamples Values(params int[] values)
    {
        var samples = new TagSamples();
        Array.ForEach(values, value => samples.Add(value));
        return samples;
    }

    // Refuses tags the first time, and takes them the second time when the test says so.
    private sealed class LateFeed : ITagFeed
    {
        private bool _isLate;

        public TimeSpan Interval => TimeSpan.Zero;

        public bool ConfirmsValues => false;

        public TaskCompletionSource IsAsked { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource End { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public HashSet<int> Tags { get; } = [];

        public async ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
        {
            if (!_isLate)
            {
                _isLate = true;
                throw new TagException(TagStatus.BadTimeout, "The test says so.");
            }

            IsAsked.TrySetResult();
            await End.Task;
            Tags.UnionWith(tags);
        }

        public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
        {
            Tags.ExceptWith(tags);
            return default;
        }

        public ValueTask DisposeAsync() => default;
    }
}
