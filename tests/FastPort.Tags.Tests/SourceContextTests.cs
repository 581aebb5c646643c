using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>
/// What serves several sessions, such as a source's feed, does not keep the execution context of the request that was the first.
/// </summary>
[Collection<TraceCollection>]
public sealed class SourceContextTests
{
    private readonly ContextProbe _probe = new();

    [Fact]
    public async Task A_feed_keeps_no_context_of_the_request_that_has_opened_it()
    {
        // Each request has an activity.
        using var activities = new RecordedActivities();
        var source = new FaultySource { OpeningFeed = () => _probe.Visit("open") };
        source.Tags.Add("a", 1);
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["a"]);

        await using TagSubscription subscription = await client.SubscribeAsync(tags);

        await _probe.ExpectNoLeaksAsync("open");
    }

    [Fact]
    public async Task A_polling_feed_keeps_no_context_of_who_has_opened_it()
    {
        var source = new PolledSource(_probe);
        _probe.Leave("the first subscriber");
        await using var feed = new PolledTagFeed(source, TimeSpan.FromMilliseconds(1), source);
        await feed.AddAsync([1], new TagStatus[1], CancellationToken.None);

        await _probe.ExpectNoLeaksAsync("read");
    }

    private sealed class PolledSource(ContextProbe probe) : ITagSource, ITagFeedListener
    {
        public event Action? ConnectionChanged
        {
            add { }
            remove { }
        }

        public string Name => "polled";

        public bool IsConnected => true;

        public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
        {
            probe.Visit("read");
            samples.Add(TagSample.Bad(TagStatus.BadTimeout));
            return new(TagStatus.Good);
        }

        public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public ValueTask<TagStatus> WriteAsync(
            IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public ValueTask<TagStatus> CallAsync(
            string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
        {
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
