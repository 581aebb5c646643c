using FastPort.Protocol;
using System.Threading.Channels;
using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;
using Message = FastPort.Tags.Messages.TagUpdate;

namespace FastPort.Tags.Tests;

/// <summary>What waits for a subscriber that does not acknowledge is bounded in bytes too.</summary>
public sealed class QueueLimitTests : IAsyncLifetime
{
    private const string Count = "count";
    private const string Text = "text";

    private readonly MemoryTagSource _memory = new();
    private readonly Channel<Message> _updates = Channel.CreateUnbounded<Message>();
    private TagBridge _bridge = null!;
    private FastPortClient _client = null!;
    private uint _subscription;

    public async ValueTask InitializeAsync()
    {
        _memory.Add(Count, 0);
        _memory.Add(Text, TagValue.From(string.Empty));
        _bridge = await TagBridge.StartAsync([_memory], new TagServerOptions { MaxQueueBytes = 100_000 });
        var handlers = new MessageHandlers();
        handlers.MapInline(
            TagMessageType.Update,
            Message.Parser,
            (update, _) =>
            {
                _updates.Writer.TryWrite(update);
            });
        _client = new FastPortClient(
            new FastPortClientOptions { Endpoint = _bridge.Endpoint, RequestTimeout = Loopback.Soon }, handlers);
        await _client.ConnectAsync();
        ResolvedTags tags = ResolvedTags.Parser.ParseFrom(
            await _client.RequestAsync(TagMessageType.Resolve, new ResolveTags { Names = { Count, Text } }.ToByteArray()));
        var request = new SubscribeTags { Handles = { tags.Tags.Select(static tag => tag.Handle) }, IntervalMs = 10, QueueSize = 100 };
        _subscription = SubscribedTags.Parser.ParseFrom(
            await _client.RequestAsync(TagMessageType.Subscribe, request.ToByteArray())).Subscription;

        // Four updates: whatever changes from now on waits.
        for (int i = 1; i <= 4; i++)
        {
            await _updates.Reader.ReadAsync(Patience.Token);
            if (i < 4)
            {
                _memory.Set(Count, -i);
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task Large_samples_wait_as_far_as_their_bytes_have_room_and_the_rest_is_counted()
    {
        // 20,000 bytes in memory each.
        List<string> texts = [.. Enumerable.Range(0, 50).Select(static i => new string((char)('A' + i), 10_000))];
        texts.ForEach(text => _memory.Set(Text, TagValue.From(text)));

        (List<TagValue> values, ulong dropped) = await AcknowledgeAsync(4);

        Assert.Equal(texts.TakeLast(4), values.Select(static value => value.Get<string>()));
        Assert.Equal(46UL, dropped);
    }

    [Fact]
    public async Task The_latest_sample_of_each_tag_waits_whatever_its_size_and_nothing_is_dropped_twice()
    {
        for (int i = 1; i <= 10; i++)
        {
            _memory.Set(Count, i);
        }

        // In place of the small ones of its own tag only.
        _memory.Set(Text, TagValue.From("small"));
        _memory.Set(Text, TagValue.From("smaller"));
        _memory.Set(Text, TagValue.From(new string('x', 60_000)));
        _memory.Set(Count, 11);

        (List<TagValue> values, ulong dropped) = await AcknowledgeAsync(2);

        Assert.Equal(60_000, values.Single(static value => value.Type == TagType.String).Get<string>().Length);
        Assert.Equal(11, values.Single(static value => value.Type == TagType.Int32).Get<int>());
        Assert.Equal(12UL, dropped);

        // There is room again.
        _memory.Set(Count, 12);
        _memory.Set(Count, 13);
        (values, dropped) = await AcknowledgeAsync(2);
        Assert.Equal([12, 13], values.Select(static value => value.Get<int>()));
        Assert.Equal(0UL, dropped);
    }

    [Fact]
    public void Limits_that_are_out_of_range_are_refused_with_their_values()
    {
        FastPortOptionsException refused = Assert.Throws<FastPortOptionsException>(
            () => new TagServer([_memory], new TagServerOptions { MaxQueueBytes = -1, MaxNodesPerBrowse = 0, SourceTimeout = default }));

        Assert.Equal(
            [
                "TagServerOptions:SourceTimeout is 00:00:00; allowed: 00:00:00.0010000 to 1.00:00:00.",
                "TagServerOptions:MaxQueueBytes is -1; allowed: 0 to 2147483647.",
                "TagServerOptions:MaxNodesPerBrowse is 0; allowed: 1 to 2147483647.",
            ],
            refused.Problems);
    }

    // Samples that come after an acknowledgment of all updates, and how many were dropped before them.
    private async Task<(List<TagValue> Values, ulong Dropped)> AcknowledgeAsync(int count)
    {
        List<TagValue> values = [];
        ulong dropped = 0;
        var samples = new TagSamples();
        await SendAsync(4);
        while (values.Count < count)
        {
            Message update = await _updates.Reader.ReadAsync(Patience.Token);
            Assert.True(samples.TryRead(update.Samples.ToByteArray(), 100));
            values.AddRange(Enumerable.Range(0, samples.Count).Select(samples.GetValue));
            dropped += update.Dropped;
        }

        Assert.Equal(count, values.Count);
        return (values, dropped);
    }

    private Task SendAsync(ulong number) => _client.SendAsync(
        TagMessageType.Acknowledge, new AcknowledgeUpdates { Subscription = _subscription, Number = number }.ToByteArray()).AsTask();
}
