using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Subscriptions of a client whose connection is full, and whose names change at the server.</summary>
public sealed class TagSubscriptionTests
{
    private const ushort Filler = 0x4000;

    private static readonly TagSubscriptionOptions Quick = new() { Interval = TimeSpan.FromMilliseconds(10) };

    [Fact]
    public async Task An_acknowledgment_that_finds_no_room_is_sent_when_there_is_some()
    {
        var memory = new MemoryTagSource();
        memory.Add("count", 0);
        await using TagBridge bridge = await TagBridge.StartAsync(
            [memory],
            new TagServerOptions(),
            map: static handlers => handlers.MapInline(Filler, static (ref InlineRequest _) => { }, "Filler"));
        await using var relay = new FreezingRelay(bridge.Endpoint);
        await using TagClient client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = relay.Url,
            RequestTimeout = Loopback.Soon,
            Session = { SendQueueBytes = 64 * 1024 },
        });
        await using TagSubscription subscription = await client.SubscribeAsync(await client.ResolveAsync(["count"]), Quick);
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.True(await changes.MoveNextAsync());

        // What was sent before the request has come.
        await client.ResolveAsync([]);
        relay.FreezeRequests();
        for (int i = 1; i <= 4; i++)
        {
            Fill(client.Session!);
            memory.Set("count", i);
            Assert.True(await changes.MoveNextAsync());
            Assert.Equal(i, changes.Current.Sample.Value.Get<int>());
        }

        memory.Set("count", 5);
        relay.Thaw();
        Assert.True(await changes.MoveNextAsync());
        Assert.Equal(5, changes.Current.Sample.Value.Get<int>());
    }

    [Fact]
    public async Task Updates_are_those_of_the_tags_as_they_were_resolved_for_the_subscription()
    {
        var source = new ControlledSource { Unknown = ["2"] };
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2"]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags, Quick);
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);

        Report(source, 1, 10);
        Assert.Equal(("1", 10), await NextAsync(changes));

        // As many names are unknown as when the subscription was made. The client asks again for the other one, whose handle stays.
        source.Unknown = ["1"];
        await Patience.UntilAsync(() => subscription.Statuses[1].IsGood, "the name that is known now is subscribed to");
        Assert.Equal(("1", 10), await NextAsync(changes));
        Report(source, 2, 20);
        Assert.Equal(("2", 20), await NextAsync(changes));

        // The one that the server does not know any more is still subscribed to.
        Report(source, 1, 11);
        Assert.Equal(("1", 11), await NextAsync(changes));
    }

    [Fact]
    public async Task A_row_that_was_not_subscribed_to_is_left_out_of_its_update()
    {
        await using TagBridge bridge = await TagBridge.StartAsync(new ControlledSource());
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2"]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags, Quick);
        uint[] handles = [.. tags.Infos.Select(static info => (uint)info!.Tag)];
        var samples = new TagSamples();
        Array.ForEach([20, 90, 10], value => samples.Add(value));

        subscription.Receive(client.Session!, 1, 1, [handles[1], 9, handles[0]], samples, 0);

        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.Equal([("2", 20), ("1", 10)], [await NextAsync(changes), await NextAsync(changes)]);
    }

    private static async Task<(string Name, int Value)> NextAsync(IAsyncEnumerator<TagChange> changes)
    {
        Assert.True(await changes.MoveNextAsync());
        return (changes.Current.Name, changes.Current.Sample.Value.Get<int>());
    }

    private static void Report(ControlledSource source, int tag, int value)
    {
        var samples = new TagSamples();
        samples.Add(value);
        source.Listener!.OnChanges([tag], samples);
    }

    private static void Fill(Session session)
    {
        var body = new byte[16 * 1024];
        while (session.TrySend(Filler, body) == SendStatus.Queued)
        {
        }
    }
}
