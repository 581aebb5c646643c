using FastPort.Connections;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Tags that one client publishes and others use.</summary>
public sealed partial class PublishedTagTests : IAsyncLifetime
{
    private const int Many = 2000;

    private readonly CancellationTokenSource _limit = new(Loopback.Soon);
    private readonly MemoryTagSource _press = new("press");
    private readonly PublishedTagSource _published = new(options: new PublishedTagOptions { MaxTags = Many + 10 });
    private TagBridge _bridge = null!;
    private TagClient _publisher = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        var speed = new TagInfo(0, "press/speed") { Type = TagType.Double, Rank = -1, IsWritable = true, Unit = "1/min", Range = (0, 90) };
        _press.Add(speed, 12.5);
        _press.Add("press/state", "idle");
        _press.Add("press/counts", TagValue.FromArray([1, 2, 3]), isWritable: true);
        _bridge = await TagBridge.StartAsync(_published);
        _publisher = await _bridge.ConnectAsync("press");
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _publisher.DisposeAsync();
        await _bridge.DisposeAsync();
        _limit.Dispose();
    }

    [Fact]
    public async Task Others_read_what_is_published_and_subscribers_get_each_change()
    {
        TagPublication publication = await _publisher.PublishAsync(_press);
        Assert.Equal(["press/counts", "press/speed", "press/state"], publication.Names.Order());
        Assert.All(publication.Statuses, static status => Assert.Equal(TagStatus.Good, status));
        TagList tags = await _client.ResolveAsync(["press/speed", "press/state", "press/counts"]);
        TagInfo speed = tags.Infos[0]!;
        Assert.Equal((TagType.Double, -1, true, "1/min"), (speed.Type, speed.Rank, speed.IsWritable, speed.Unit));
        Assert.Equal((0.0, 90.0), speed.Range);
        await using TagSubscription subscription = await _client.SubscribeAsync(
            tags, new() { Interval = TimeSpan.FromMilliseconds(10), QueueSize = 100 });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(_limit.Token);
        await UntilAsync(changes, "press/speed", 12.5);

        for (int i = 1; i <= 20; i++)
        {
            _press.Set("press/speed", (double)i);
        }

        for (int i = 1; i <= 20; i++)
        {
            await UntilAsync(changes, "press/speed", (double)i);
        }

        TagSamples samples = await _client.ReadAsync(tags);
        Assert.Equal((20.0, "idle"), (samples[0].Value.Get<double>(), samples[1].Value.Get<string>()));
        Assert.Equal(TagValue.FromArray([1, 2, 3]), samples[2].Value);
        Assert.Equal(3, await _client.BrowseAsync("press").CountAsync(_limit.Token));
    }

    [Fact]
    public async Task A_read_within_an_age_gets_what_was_pushed_last_whoever_has_written_it()
    {
        await _publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);
        int tag = (await InfosAsync("press/speed"))[0].Tag;
        await _client.ReadAsync("press/speed");
        for (int i = 1; i <= 20; i++)
        {
            var values = new TagSamples();
            values.Add((double)i);
            var statuses = new TagStatus[1];

            // As the bridge's OPC UA server writes.
            await _published.WriteAsync([tag], values, statuses, _limit.Token);

            Assert.Equal(TagStatus.Good, statuses[0]);
            Assert.Equal(i, (await _client.ReadAsync("press/speed", maxAge: TimeSpan.FromHours(1))).Value.Get<double>());
        }
    }

    [Fact]
    public async Task Tags_stay_when_their_publisher_has_gone_until_the_same_routing_id_declares_them_again()
    {
        await _publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);

        await _publisher.DisposeAsync();
        await UntilAsync("press/speed", TagStatus.BadNoCommunication);
        await using (TagClient thief = await _bridge.ConnectAsync("thief"))
        {
            TagPublication refused = await thief.PublishAsync(_press);
            Assert.All(refused.Statuses, static status => Assert.Equal(TagStatus.BadNodeIdExists, status));
        }

        _press.Set("press/speed", 40.0);
        _publisher = await _bridge.ConnectAsync("press");
        await _publisher.PublishAsync(_press);

        await UntilAsync("press/speed", 40.0);
        Assert.Equal(TagStatus.Good, await _client.WriteAsync("press/speed", 41.0));
    }

    [Fact]
    public async Task A_publication_that_is_ended_is_BadNoCommunication()
    {
        TagPublication publication = await _publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);

        await publication.DisposeAsync();

        await UntilAsync("press/speed", TagStatus.BadNoCommunication);
        Assert.Equal(12.5, (await _client.ReadAsync("press/speed")).Value.Get<double>());
        Assert.Equal(TagStatus.BadHandleInvalid, await _client.WriteAsync("press/speed", 1.0));
    }

    [Theory]
    [InlineData(30)]
    [InlineData(0)]
    public async Task The_end_of_a_publication_is_told_also_to_a_server_that_is_slow_to_read(int requestTimeoutSeconds)
    {
        await using var relay = new FreezingRelay(_bridge.Endpoint);
        await using TagClient publisher = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = relay.Url,
            RoutingId = "slow",
            RequestTimeout = TimeSpan.FromSeconds(requestTimeoutSeconds),
            Session = { SendQueueBytes = 65536 },
        });
        for (int i = 0; i < 100; i++)
        {
            _press.Add($"big/{i}", string.Empty);
        }

        TagPublication publication = await publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);
        relay.Freeze();
        for (int i = 0; i < 100; i++)
        {
            _press.Set($"big/{i}", new string('x', 200_000));
        }

        // More than the kernel's buffers take of a server that does not read. The publisher waits for half of its queue.
        Connection connection = publisher.Session!.Connection;
        await Patience.UntilAsync(() => connection.PendingBytes > 65536 / 2, "the publisher waits");
        await Patience.UntilSteadyAsync(() => connection.BytesSent, "the buffers are full");
        Task ending = publication.DisposeAsync().AsTask();
        await Assert.ThrowsAsync<TimeoutException>(() => ending.WaitAsync(TimeSpan.FromMilliseconds(200)));
        relay.Thaw();
        await ending;

        await UntilAsync("press/speed", TagStatus.BadNoCommunication);
        await UntilAsync("big/99", TagStatus.BadNoCommunication);
    }

    [Fact]
    public async Task A_client_that_is_closed_while_it_begins_to_publish_leaves_nothing_at_the_source()
    {
        var opening = new TaskCompletionSource();
        await using var source = new FaultySource { Opening = opening.Task };
        source.Tags.Add("late", 1);
        TagClient publisher = await _bridge.ConnectAsync("late");
        Task publishing = publisher.PublishAsync(source).AsTask();
        await source.IsOpening.Task.WaitAsync(Loopback.Soon);

        await publisher.DisposeAsync();
        opening.SetResult();

        await Assert.ThrowsAsync<RequestFailedException>(() => publishing);
        Assert.Equal((0, false), (source.Feeds, source.IsObserved));
    }

    [Fact]
    public async Task A_tag_that_the_sources_feed_refuses_has_that_status()
    {
        await using var source = new FaultySource { Refused = { 0 } };
        source.Tags.Add("refused", 1);
        source.Tags.Add("fed", 1);

        await _publisher.PublishAsync(source);

        await UntilAsync("fed", 1);
        await UntilAsync("refused", TagStatus.BadTooManyOperations);
    }

    [Fact]
    public async Task A_tag_that_the_source_has_only_after_a_reconnect_is_followed_from_then_on()
    {
        await using var source = new FaultySource();
        source.Tags.Add("old", 1);
        TagPublication publication = await _publisher.PublishAsync(source, new TagPublicationOptions { Names = ["old", "new"] });
        Assert.Equal([TagStatus.Good, TagStatus.BadNodeIdUnknown], publication.Statuses);
        source.Tags.Add("new", 1);

        await RestartAsync();

        await UntilAsync("new", 1);
        source.Tags.Set("new", 2);
        await UntilAsync("new", 2);
    }

    [Fact]
    public async Task A_source_that_loses_its_device_is_told_and_comes_back()
    {
        await _publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);

        _press.IsConnected = false;
        await UntilAsync("press/speed", TagStatus.BadNoCommunication);
        Assert.Equal(TagStatus.BadNoCommunication, await _client.WriteAsync("press/speed", 1.0));
        _press.IsConnected = true;

        await UntilAsync("press/speed", 12.5);
    }

    [Fact]
    public async Task Tags_are_declared_again_whatever_the_source_throws_meanwhile()
    {
        await using var source = new FaultySource();
        source.Tags.Add("again", 1);
        await _publisher.PublishAsync(source);
        source.LookupFailure = new InvalidOperationException("The device is starting.");

        await RestartAsync();

        await UntilAsync("again", 1);
        Assert.Null(source.LookupFailure);
    }

    [Fact]
    public async Task What_a_feed_reports_before_it_says_that_it_has_the_tags_reaches_the_next_session_too()
    {
        await using var source = new FaultySource();
        source.Tags.Add("slow", 1);
        var reported = new TaskCompletionSource();
        var goOn = new TaskCompletionSource();
        source.Adding = async () =>
        {
            reported.TrySetResult();
            await goOn.Task;
        };
        Task<TagPublication> publishing = _publisher.PublishAsync(source).AsTask();
        await reported.Task.WaitAsync(Loopback.Soon);

        await RestartAsync();
        await UntilAsync("slow", TagStatus.BadWaitingForInitialData);
        goOn.SetResult();

        await UntilAsync("slow", 1);
        await (await publishing).DisposeAsync();
    }

    [Fact]
    public async Task A_publication_that_ends_while_it_is_declared_again_ends_for_the_server_too()
    {
        await using var source = new FaultySource();
        source.Tags.Add("ended", 1);
        TagPublication publication = await _publisher.PublishAsync(source);
        var begun = new TaskCompletionSource();
        var goOn = new TaskCompletionSource();
        source.Resolving = async () =>
        {
            begun.SetResult();
            await goOn.Task;
        };

        await RestartAsync();
        await begun.Task.WaitAsync(Loopback.Soon);
        await publication.DisposeAsync();
        goOn.SetResult();

        await UntilAsync("ended", TagStatus.BadNoCommunication);
    }

    private static async Task UntilAsync<T>(IAsyncEnumerator<TagChange> changes, string name, T value)
    {
        do
        {
            Assert.True(await changes.MoveNextAsync());
        }
        while (changes.Current.Name != name || !changes.Current.Sample.Status.IsGood);

        Assert.Equal(value, changes.Current.Sample.Value.Get<T>());
    }

    private async Task<TagInfo[]> InfosAsync(params string[] names)
    {
        var infos = new TagInfo?[names.Length];
        await _published.ResolveAsync(names, infos, _limit.Token);
        return [.. infos.OfType<TagInfo>()];
    }

    // A server without tags in place of this one.
    private async Task RestartAsync()
    {
        string endpoint = _bridge.Endpoint;
        await _bridge.DisposeAsync();
        _bridge = await TagBridge.StartAsync([new PublishedTagSource()], new TagServerOptions(), endpoint);
    }

    private Task UntilAsync<T>(string name, T value) =>
        UntilAsync(name, sample => sample.Status.IsGood && Equals(sample.Value.Get<T>(), value));

    private Task UntilAsync(string name, TagStatus status) => UntilAsync(name, sample => sample.Status == status);

    private async Task UntilAsync(string name, Predicate<TagSample> condition)
    {
        await using TagSubscription subscription = await _client.SubscribeAsync(
            await _client.ResolveAsync([name]), new() { Interval = TimeSpan.FromMilliseconds(10) });
        await subscription.FirstAsync(change => condition(change.Sample), _limit.Token);
    }

    private async Task<FastPortClient> ConnectAsync(string routingId, TagBridge? bridge = null)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = (bridge ?? _bridge).Endpoint, RoutingId = routingId });
        await client.ConnectAsync();
        return client;
    }
}
