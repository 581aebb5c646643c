using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>The tag client's interfaces: the client implements all of them, a test's substitute as much as it needs.</summary>
public sealed class TagClientInterfaceTests
{
    [Theory]
    [InlineData(typeof(TagClient), typeof(ITagClient))]
    [InlineData(typeof(TagSubscription), typeof(ITagSubscription))]
    [InlineData(typeof(TagPublication), typeof(ITagPublication))]
    public void The_client_implements_every_member(Type type, Type contract) =>
        Assert.All(type.GetInterfaceMap(contract).TargetMethods, method => Assert.Equal(type, method.DeclaringType));

    [Fact]
    public async Task A_substitute_reads_and_subscribes()
    {
        ITagClient client = new OneTag();
        TagList tags = await client.ResolveAsync(["tank/level"]);

        TagSamples samples = await client.ReadAsync(tags);
        List<TagChange> changes = [];
        await using (ITagSubscription subscription = await client.SubscribeAsync(tags))
        {
            await foreach (TagChange change in subscription)
            {
                changes.Add(change);
            }

            Assert.Throws<NotSupportedException>(() => subscription.ReadUpdatesAsync());
        }

        Assert.Equal((1, "tank/level", TagType.Double), (tags.Count, tags.Names[0], tags.Infos[0]!.Type));
        Assert.Equal(1.5, samples[0].Value.Get<double>());
        Assert.Equal([1.5, 2.5], changes.Select(static change => change.Sample.Value.Get<double>()));
    }

    [Fact]
    public async Task What_a_substitute_does_not_implement_is_not_supported()
    {
        ITagClient client = new Nothing();
        client.Connected += static () => { };
        client.Disconnected += static _ => { };

        Assert.False(client.IsConnected);
        await Assert.ThrowsAsync<NotSupportedException>(() => client.ResolveAsync(["a"]).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.ReadAsync("a").AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.ReadAsync(new TagList([])).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.WriteAsync("a", 1).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.WriteAsync(new TagList([]), new TagSamples()).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.SubscribeAsync(new TagList([])).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.PublishAsync(new MemoryTagSource()).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.CallAsync("a", []).AsTask());
        Assert.Throws<NotSupportedException>(() => client.BrowseAsync());
    }

    private sealed class Nothing : ITagClient;

    private sealed class OneTag : ITagClient
    {
        public ValueTask<TagList> ResolveAsync(IEnumerable<string> names, CancellationToken cancellationToken = default) =>
            new(new TagList(names.Select(static (name, i) => new TagInfo(i, name) { Type = TagType.Double })));

        public ValueTask ReadAsync(
            TagList tags,
            TagSamples samples,
            TimeSpan maxAge = default,
            TimeSpan timeout = default,
            CancellationToken cancellationToken = default)
        {
            samples.Add(1.5);
            return default;
        }

        public ValueTask<ITagSubscription> SubscribeAsync(
            TagList tags, TagSubscriptionOptions? options = null, CancellationToken cancellationToken = default) =>
            new(new Changes(tags.Names[0]));
    }

    private sealed class Changes(string name) : ITagSubscription
    {
        public async IAsyncEnumerator<TagChange> GetAsyncEnumerator(CancellationToken cancellationToken = default)
        {
            yield return new TagChange(name, new TagSample(1.5, TagStatus.Good));
            await Task.Yield();
            yield return new TagChange(name, new TagSample(2.5, TagStatus.Good));
        }

        public ValueTask DisposeAsync() => default;
    }
}
