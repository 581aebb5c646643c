using System.Collections.Concurrent;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>A feed whose requests fail half way: what it has at the server stays bounded, and its end is told.</summary>
public sealed class OpcUaTagFeedTests : IAsyncLifetime
{
    private const int Tags = 350;

    private readonly Listener _listener = new();
    private readonly List<VariableNode> _nodes = [];
    private OpcUaPeer _server = null!;
    private AddressSpace _space = null!;
    private BridgeUnderTest _bridge = null!;
    private Action<OpcUaServerOptions> _configure = static _ => { };

    public ValueTask InitializeAsync()
    {
        _server = new OpcUaPeer(
            space =>
            {
                _space = space;
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                for (uint i = 0; i < Tags; i++)
                {
                    _nodes.Add(space.AddVariable(root, new NodeId(ns, 10 + i), new QualifiedName(ns, $"{i}"), 0));
                }
            },
            options => _configure(options));
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        await (_bridge?.DisposeAsync() ?? default);
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Of_an_add_whose_second_request_fails_the_items_of_the_first_stay_and_are_there_once()
    {
        await StartAsync(static options =>
        {
            options.MaxMonitoredItemsPerCall = Tags;
            options.MaxMonitoredItemsPerSession = Tags;
            options.MaxMessageBytes = 64 * 1024;
        });
        await using ITagFeed feed = await OpenAsync();

        // More than a message of the server may have.
        int[] whole = await ResolveAsync(static i => $"plant/{i}");
        int[] parts = await ResolveAsync(static i => $"plant/{i}[{i}:{new string('9', 190)}]");
        for (int i = 0; i < 3; i++)
        {
            TagException e = await Assert.ThrowsAsync<TagException>(() => AddAsync(feed, [.. whole, .. parts]));
            Assert.Equal(TagStatus.BadEncodingLimitsExceeded, e.Status);
        }

        _nodes[0].Value = new DataValue(7);
        await Patience.UntilAsync(() => _listener.Values.GetValueOrDefault(whole[0]) == 7, "the value of the first item is reported");
        Assert.All(await AddAsync(feed, whole), static status => Assert.Equal(TagStatus.Good, status));
    }

    [Fact]
    public async Task A_removal_that_fails_is_repeated_and_a_tag_that_is_added_twice_is_there_once()
    {
        await StartAsync(static options => options.MaxMonitoredItemsPerSession = 1);
        await using ITagFeed feed = await OpenAsync();
        int[] tags = await ResolveAsync(static i => $"plant/{i}");
        Assert.Equal([TagStatus.Good], await AddAsync(feed, tags[..1]));
        Assert.Equal([TagStatus.Good], await AddAsync(feed, tags[..1]));

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => feed.RemoveAsync(tags[..1], new CancellationToken(canceled: true)).AsTask());

        Assert.Equal([TagStatus.Good], await AddAsync(feed, tags[1..2]));
    }

    [Fact]
    public async Task A_feed_whose_subscription_the_server_refuses_to_have_again_ends()
    {
        await StartAsync(static _ => { });
        await using ITagFeed feed = await OpenAsync();
        await AddAsync(feed, await ResolveAsync(static i => $"plant/{i}"));
        Assert.False(feed.Ended!.IsCompleted);

        await RestartAsync(static options => options.MaxSubscriptionsPerSession = 0);

        Assert.Equal(TagStatus.BadNoCommunication, await feed.Ended.InTimeAsync());
    }

    [Fact]
    public async Task When_the_server_refuses_all_tags_after_a_restart_who_watches_them_has_its_reason_until_it_takes_them()
    {
        var refusal = new TagStatus(StatusCodes.BadTooManySubscriptions.Value);
        await StartAsync(static _ => { });
        await using TagWatch watch = await TagWatch.StartAsync(_bridge.Client, "plant/0", "plant/1");
        await watch.UntilAsync("plant/0", TagStatus.Good, 0);

        await RestartAsync(static options => options.MaxSubscriptionsPerSession = 0);

        await watch.UntilAsync("plant/0", refusal);
        await watch.UntilAsync("plant/1", refusal);
        await using TagWatch second = await TagWatch.StartAsync(_bridge.Client, "plant/0");
        Assert.Equal([refusal], second.Statuses);
        await RestartAsync(static _ => { });
        await watch.UntilAsync("plant/0", TagStatus.Good, 0);
        await second.UntilAsync("plant/0", TagStatus.Good, 0);
    }

    [Fact]
    public async Task When_the_server_refuses_one_tag_after_a_restart_who_watches_it_has_its_reason_and_the_others_go_on()
    {
        var refusal = new TagStatus(StatusCodes.BadTooManyMonitoredItems.Value);
        await StartAsync(static _ => { });
        await using TagWatch watch = await TagWatch.StartAsync(_bridge.Client, "plant/0", "plant/1");
        await watch.UntilAsync("plant/0", TagStatus.Good, 0);
        await watch.UntilAsync("plant/1", TagStatus.Good, 0);

        await RestartAsync(static options => options.MaxMonitoredItemsPerSession = 1);

        await watch.UntilAsync("plant/1", refusal);
        await watch.UntilAsync("plant/0", TagStatus.Good, 0);
        _nodes[^Tags].Value = new DataValue(7);
        await watch.UntilAsync("plant/0", TagStatus.Good, 7);
        await using TagWatch second = await TagWatch.StartAsync(_bridge.Client, "plant/1");
        Assert.Equal([refusal], second.Statuses);
    }

    [Fact]
    public async Task When_the_subscription_was_made_again_the_listener_is_told_that_values_may_be_lost()
    {
        await StartAsync(static _ => { });
        await using ITagFeed feed = await OpenAsync();
        await AddAsync(feed, (await ResolveAsync(static i => $"plant/{i}"))[..1]);

        await RestartAsync(static _ => { });

        await _listener.Lost.Task.InTimeAsync();
    }

    [Fact]
    public async Task A_feed_is_told_that_the_server_has_got_nodes()
    {
        await StartAsync(static _ => { }, ("Endpoints:plant:Below:1", $"nsu={Bridged.NamespaceUri};i=2"));
        await using ITagFeed feed = await OpenAsync();
        Assert.False(_listener.Appeared.Task.IsCompleted);

        ushort ns = _nodes[0].Id.NamespaceIndex;
        _space.AddObject(AddressSpace.ObjectsFolder, new NodeId(ns, 2), new QualifiedName(ns, "Machine"));

        await _listener.Appeared.Task.InTimeAsync();
    }

    private async Task StartAsync(Action<OpcUaServerOptions> configure, params (string Key, string Value)[] keys)
    {
        _configure = configure;
        await _server.StartAsync();
        _bridge = await BridgeUnderTest.StartAsync(
            mustLoad: true,
            [
                ("Endpoints:plant:EndpointUrl", _server.Url),
                ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"),
                .. keys,
            ]);
    }

    private async Task RestartAsync(Action<OpcUaServerOptions> configure)
    {
        _configure = configure;
        await _server.StopAsync();
        await _server.StartAsync();
    }

    private ValueTask<ITagFeed> OpenAsync() =>
        _bridge.Source.OpenFeedAsync(TimeSpan.FromMilliseconds(50), _listener, CancellationToken.None);

    private async Task<int[]> ResolveAsync(Func<int, string> name)
    {
        var infos = new TagInfo?[Tags];
        await _bridge.Source.ResolveAsync([.. Enumerable.Range(0, Tags).Select(name)], infos, CancellationToken.None);
        return Array.ConvertAll(infos, static info => info!.Tag);
    }

    private static async Task<TagStatus[]> AddAsync(ITagFeed feed, int[] tags)
    {
        var statuses = new TagStatus[tags.Length];
        await feed.AddAsync(tags, statuses, Patience.Token);
        return statuses;
    }

    private sealed class Listener : ITagFeedListener
    {
        public TaskCompletionSource Lost { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Appeared { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ConcurrentDictionary<int, int> Values { get; } = [];

        public ConcurrentDictionary<int, TagStatus> Statuses { get; } = [];

        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
        {
            for (int i = 0; i < tags.Length; i++)
            {
                Values[tags[i]] = samples[i].Value.TryGet(out int value) ? value : -1;
                Statuses[tags[i]] = samples[i].Status;
            }
        }

        public void OnValuesLost() => Lost.TrySetResult();

        public void OnTagsAppeared() => Appeared.TrySetResult();
    }
}
