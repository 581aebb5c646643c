using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Large values that are gone: nothing of the server's keeps their memory.</summary>
[Collection("Alone")]
public sealed class TagMemoryTests
{
    private const int Size = 900_000;

    [Fact]
    public async Task The_cache_keeps_no_memory_of_a_value_that_is_gone()
    {
        const int Tags = 64;
        await using var source = new PublishedTagSource();
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using var publisher = new FastPortClient(
            new FastPortClientOptions { Endpoint = bridge.Endpoint, RoutingId = "publisher", RequestTimeout = Loopback.Soon });
        await publisher.ConnectAsync();
        var declare = new DeclareTags();
        for (int i = 0; i < Tags; i++)
        {
            declare.Tags.Add(new DeclaredTag { Name = $"{i}", Type = (uint)TagType.ByteString, Rank = -1, Access = 1 });
        }

        uint[] handles = [.. DeclaredTags.Parser.ParseFrom(
            await publisher.RequestAsync(TagMessageType.Declare, declare.ToByteArray())).Handles];
        await using TagClient reader = await bridge.ConnectAsync();
        TagList[] tags = new TagList[Tags];
        for (int i = 0; i < Tags; i++)
        {
            tags[i] = await reader.ResolveAsync([$"{i}"]);
        }

        // What is rented and kept for a first one is no loss.
        await PassAsync(0);
        long before = GC.GetTotalMemory(forceFullCollection: true);
        for (int i = 1; i < Tags; i++)
        {
            await PassAsync(i);
        }

        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, Tags * Size / 4);

        async Task PassAsync(int tag)
        {
            await PushAsync(tag, TagValue.From(new byte[Size]));
            Assert.Equal(Size, (await reader.ReadAsync(tags[tag])).GetBytes(0).Length);
            await PushAsync(tag, default);
            Assert.True((await reader.ReadAsync(tags[tag]))[0].Value.IsNull);
        }

        Task PushAsync(int tag, TagValue value)
        {
            var samples = new TagSamples();
            samples.Add(value);
            var push = new PushTags
            {
                Handles = { handles[tag] },
                Samples = FastPort.Tags.Messages.TagSamples.Parser.ParseFrom(samples.ToBytes()),
            };
            return publisher.RequestAsync(TagMessageType.Push, push.ToByteArray());
        }
    }

    [Fact]
    public async Task Subscriptions_keep_no_memory_of_a_value_that_is_gone()
    {
        const int Count = 50;
        var memory = new MemoryTagSource();
        memory.Add("text", string.Empty);
        await using TagBridge bridge = await TagBridge.StartAsync(memory);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["text"]);
        List<IAsyncEnumerator<TagChange>> changes = [];
        for (int i = 0; i < Count; i++)
        {
            TagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
            changes.Add(subscription.GetAsyncEnumerator(Patience.Token));
        }

        await SetAsync("small");
        long before = GC.GetTotalMemory(forceFullCollection: true);
        await SetAsync(new string('x', Size));
        await SetAsync("small again");

        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, Count * Size / 2);

        async Task SetAsync(string text)
        {
            memory.Set("text", text);
            foreach (IAsyncEnumerator<TagChange> own in changes)
            {
                do
                {
                    Assert.True(await own.MoveNextAsync());
                }
                while (own.Current.Sample.Value != text);
            }
        }
    }

    [Fact]
    public void Samples_that_are_used_again_keep_the_memory_of_small_rows_only()
    {
        var samples = new TagSamples();
        samples.Add(new string('x', 100));
        Assert.Same(samples, samples.Cleared(1000));
        Assert.Equal(0, samples.Count);
        samples.Add(new string('x', 1000));

        TagSamples others = samples.Cleared(1000);

        Assert.NotSame(samples, others);
        Assert.Equal(0, others.Count);
    }
}
