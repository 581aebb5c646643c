using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>
/// Lists that are too long, what belongs to another session, and values that no frame takes: an answer for each, and the session goes on.
/// </summary>
public sealed class TagBadInputTests : IAsyncLifetime
{
    private const int MaxFrameBytes = 64 * 1024;
    private const int MaxTags = 1000;

    private readonly MemoryTagSource _memory = new();
    private readonly List<string> _written = [];
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _memory.Add("count", 7, isWritable: true);
        _memory.Add("text", TagValue.From("short"), isWritable: true);
        _memory.AddMethod("repeat", static inputs => [new string('x', inputs[0].Get<int>())]);
        _memory.Written += (name, _) => _written.Add(name);
        _bridge = await TagBridge.StartAsync(
            [_memory],
            new TagServerOptions { MaxTagsPerRequest = MaxTags, MaxSubscriptionsPerSession = 2, MaxSubscribedTagsPerSession = MaxTags + 1 },
            configure: static options => options.Session.MaxFrameBytes = MaxFrameBytes);
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task Lists_that_are_too_long_are_refused_by_every_request()
    {
        await using FastPortClient client = await ConnectAsync();
        uint[] handles = [.. Enumerable.Repeat(1u, MaxTags + 1)];
        var rows = new TagSamples();
        foreach (uint _ in handles)
        {
            rows.Add(1);
        }

        (ushort Type, IMessage Request)[] requests =
        [
            (TagMessageType.Resolve, new ResolveTags { Names = { handles.Select(static handle => $"{handle}") } }),
            (TagMessageType.Read, new ReadTags { Handles = { handles } }),
            (TagMessageType.Write, new WriteTags { Handles = { handles }, Samples = Rows(rows) }),
            (TagMessageType.Subscribe, new SubscribeTags { Handles = { handles } }),
        ];
        foreach ((ushort type, IMessage request) in requests)
        {
            RequestFailedException e = await Loopback.FailureAsync(client, type, request.ToByteArray());
            Assert.Equal(ErrorCode.Overloaded, e.Code);
            Assert.Contains($"has {MaxTags + 1} tags; at most {MaxTags} are allowed", e.Message, StringComparison.Ordinal);
        }

        Assert.Empty(_written);
        await GoesOnAsync();
    }

    [Fact]
    public async Task Lists_that_are_empty_are_answered_and_an_empty_subscription_can_be_ended()
    {
        await using FastPortClient client = await ConnectAsync();

        SubscribedTags subscribed = SubscribedTags.Parser.ParseFrom(
            await client.RequestAsync(TagMessageType.Subscribe, new SubscribeTags().ToByteArray()));
        Assert.Empty(subscribed.Statuses);
        Assert.Empty(await client.RequestAsync(
            TagMessageType.Unsubscribe, new UnsubscribeTags { Subscription = subscribed.Subscription }.ToByteArray()));
        Assert.Empty(await client.RequestAsync(TagMessageType.Read, ReadOnlyMemory<byte>.Empty));
        Assert.Empty(await client.RequestAsync(TagMessageType.Write, ReadOnlyMemory<byte>.Empty));
        Assert.Empty(await client.RequestAsync(TagMessageType.Resolve, ReadOnlyMemory<byte>.Empty));
    }

    [Fact]
    public async Task More_subscriptions_than_allowed_are_refused_and_those_that_were_made_stay()
    {
        TagList one = await _client.ResolveAsync(["count"]);
        TagList many = await _client.ResolveAsync(Enumerable.Repeat("count", MaxTags));
        await using TagSubscription first = await _client.SubscribeAsync(many);
        await using (await _client.SubscribeAsync(one))
        {
            await RefusedAsync(one);
        }

        // A second one has room, and this many tags have not.
        await RefusedAsync(many);
        await using TagSubscription second = await _client.SubscribeAsync(one);
        Assert.Equal(7, (await first.FirstAsync(TestContext.Current.CancellationToken)).Sample.Value);
        Assert.Equal(7, (await second.FirstAsync(TestContext.Current.CancellationToken)).Sample.Value);

        async Task RefusedAsync(TagList tags)
        {
            RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => _client.SubscribeAsync(tags).AsTask());
            Assert.Equal(ErrorCode.Overloaded, e.Code);
        }
    }

    [Fact]
    public async Task What_belongs_to_another_session_cannot_be_used()
    {
        TagList tags = await _client.ResolveAsync(["count"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags);
        uint handle = (uint)tags.Infos[0]!.Tag;
        await using FastPortClient stranger = await ConnectAsync();
        var rows = new TagSamples();
        rows.Add(8);

        WrittenTags written = WrittenTags.Parser.ParseFrom(await stranger.RequestAsync(
            TagMessageType.Write, new WriteTags { Handles = { handle }, Samples = Rows(rows) }.ToByteArray()));
        SubscribedTags subscribed = SubscribedTags.Parser.ParseFrom(await stranger.RequestAsync(
            TagMessageType.Subscribe, new SubscribeTags { Handles = { handle } }.ToByteArray()));
        await Loopback.FailureAsync(stranger, TagMessageType.Unsubscribe, new UnsubscribeTags { Subscription = 77 }.ToByteArray());

        Assert.Equal([TagStatus.BadHandleInvalid.Code], written.Statuses);
        Assert.Equal([TagStatus.BadHandleInvalid.Code], subscribed.Statuses);
        Assert.Empty(_written);
        Assert.Equal(7, (await subscription.FirstAsync(TestContext.Current.CancellationToken)).Sample.Value);
    }

    [Fact]
    public async Task A_cursor_goes_on_without_anything_that_is_kept_and_one_that_is_malformed_is_told_as_such()
    {
        await using FastPortClient client = await ConnectAsync();
        await using FastPortClient other = await ConnectAsync();

        // The root has "count", "text" and "repeat". The path is not needed again, nor the session.
        BrowsedTags first = await BrowseAsync(client, new BrowseTags { Limit = 1 });
        BrowsedTags second = await BrowseAsync(other, new BrowseTags { Limit = 1, Cursor = first.Cursor, Path = "nothing" });
        BrowsedTags last = await BrowseAsync(client, new BrowseTags { Limit = 1, Cursor = second.Cursor });

        Assert.Equal(
            ["count", "text", "repeat"], ((BrowsedTags[])[first, second, last]).Select(static page => Assert.Single(page.Nodes).Name));
        Assert.Empty(last.Cursor);
        byte[][] malformed = [[1], [1, 0, 0], [0, 0, 0, 0], [255, 255, 255, 255], [1, 0, 0, 0, 0xFF]];
        foreach (byte[] cursor in malformed)
        {
            BrowsedTags browsed = await BrowseAsync(client, new BrowseTags { Cursor = ByteString.CopyFrom(cursor) });
            Assert.Equal(TagStatus.BadContinuationPointInvalid.Code, browsed.Status);
        }

        // What is not there any more.
        BrowsedTags beyond = await BrowseAsync(client, new BrowseTags { Cursor = ByteString.CopyFrom(255, 255, 255, 127) });
        Assert.Equal((0u, 0, 0), (beyond.Status, beyond.Nodes.Count, beyond.Cursor.Length));

        static async Task<BrowsedTags> BrowseAsync(FastPortClient client, BrowseTags request) =>
            BrowsedTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Browse, request.ToByteArray()));
    }

    [Fact]
    public async Task Acknowledgments_of_what_was_never_sent_change_nothing()
    {
        await using FastPortClient stranger = await ConnectAsync();
        await stranger.SendAsync(
            TagMessageType.Acknowledge, new AcknowledgeUpdates { Subscription = 77, Number = ulong.MaxValue }.ToByteArray());
        Assert.Empty(await stranger.RequestAsync(TagMessageType.Resolve, ReadOnlyMemory<byte>.Empty));
        await GoesOnAsync();
    }

    [Fact]
    public async Task A_result_that_no_frame_takes_is_ReplyTooLarge_and_the_session_goes_on()
    {
        _memory.Set("text", new string('x', MaxFrameBytes));
        TagList tags = await _client.ResolveAsync(["text", "count"]);

        RequestFailedException read = await Assert.ThrowsAsync<RequestFailedException>(() => _client.ReadAsync(tags).AsTask());
        RequestFailedException called = await Assert.ThrowsAsync<RequestFailedException>(
            () => _client.CallAsync("repeat", [MaxFrameBytes]).AsTask());

        Assert.Equal((ErrorCode.ReplyTooLarge, ErrorCode.ReplyTooLarge), (read.Code, called.Code));
        Assert.Equal(["xx"], await _client.CallAsync("repeat", [2]));
        await GoesOnAsync();

        _memory.Set("text", "short");
        Assert.Equal("short", (await _client.ReadAsync(tags))[0].Value);
    }

    [Fact]
    public async Task A_call_with_more_inputs_than_a_method_may_have_is_refused_and_only_who_may_call_is_told()
    {
        var inputs = new FastPort.Tags.Messages.TagSamples { Count = 200_000 };
        byte[] call = new CallMethod { Name = "repeat", Inputs = inputs }.ToByteArray();
        await using FastPortClient client = await ConnectAsync();
        await using TagBridge bridge = await TagBridge.StartAsync(
            [_memory], new TagServerOptions(), authorizer: static (_, _, _, _) => false);
        await using var stranger = new FastPortClient(
            new FastPortClientOptions { Endpoint = bridge.Endpoint, RequestTimeout = Loopback.Soon });
        await stranger.ConnectAsync();

        RequestFailedException e = await Loopback.FailureAsync(client, TagMessageType.Call, call);
        byte[] denied = await stranger.RequestAsync(TagMessageType.Call, call);

        Assert.Equal(ErrorCode.Overloaded, e.Code);
        Assert.Contains("has 200000 inputs; at most 1000 are allowed", e.Message, StringComparison.Ordinal);
        Assert.Equal(TagStatus.BadUserAccessDenied.Code, MethodResult.Parser.ParseFrom(denied).Status);
        Assert.Equal(["xx"], await _client.CallAsync("repeat", [.. Enumerable.Repeat<TagValue>(2, 1000)]));
    }

    [Fact]
    public async Task A_list_of_names_that_no_frame_takes_is_browsed_in_smaller_pages()
    {
        string name = new('x', 500);
        for (int i = 0; i < 500; i++)
        {
            _memory.Add($"long/{name}/{i}", i);
        }

        List<string> names = await _client.BrowseAsync($"long/{name}").Select(static node => node.Name).ToListAsync();

        Assert.Equal(Enumerable.Range(0, 500).Select(i => $"long/{name}/{i}"), names);
    }

    [Fact]
    public async Task A_value_that_no_update_takes_is_told_as_such_and_others_come()
    {
        TagList tags = await _client.ResolveAsync(["text", "count"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        await using IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.Equal("short", (await NextAsync()).Value);
        Assert.Equal(7, (await NextAsync()).Value);

        _memory.Set("text", new string('x', MaxFrameBytes));
        _memory.Set("count", 8);
        TagSample large = await NextAsync();
        Assert.Equal((TagStatus.BadResponseTooLarge, true), (large.Status, large.Value.IsNull));
        Assert.NotEqual(default, large.SourceTime);
        Assert.Equal(8, (await NextAsync()).Value);

        _memory.Set("text", "short again");
        Assert.Equal("short again", (await NextAsync()).Value);

        async Task<TagSample> NextAsync()
        {
            Assert.True(await changes.MoveNextAsync());
            return changes.Current.Sample;
        }
    }

    [Theory]
    [InlineData(TagType.SByte, -129, false)]
    [InlineData(TagType.SByte, -128, true)]
    [InlineData(TagType.SByte, 127, true)]
    [InlineData(TagType.SByte, 128, false)]
    [InlineData(TagType.Int16, -32_769, false)]
    [InlineData(TagType.Int16, -32_768, true)]
    [InlineData(TagType.Int16, 32_767, true)]
    [InlineData(TagType.Int16, 32_768, false)]
    [InlineData(TagType.Byte, 255, true)]
    [InlineData(TagType.Byte, 256, false)]
    [InlineData(TagType.Byte, -1, false)]
    [InlineData(TagType.UInt16, 65_535, true)]
    [InlineData(TagType.UInt16, 65_536, false)]
    public async Task A_number_beyond_the_range_of_its_type_is_malformed_and_nothing_is_written(TagType type, int number, bool isAccepted)
    {
        _memory.Add("small", Small(type), isWritable: true);
        _memory.Add("smalls", SmallArray(type), isWritable: true);
        await using FastPortClient client = await ConnectAsync();
        ResolvedTags resolved = ResolvedTags.Parser.ParseFrom(await client.RequestAsync(
            TagMessageType.Resolve, new ResolveTags { Names = { "small", "smalls" } }.ToByteArray()));

        // Of an array the last element: the others are within the range.
        int[] numbers = [number];
        foreach (FastPort.Tags.Messages.TagSamples rows in (FastPort.Tags.Messages.TagSamples[])
            [Message([(byte)type], numbers), Message([(byte)(0x80 | (byte)type)], [1, 2, number])])
        {
            uint handle = resolved.Tags[rows.Lengths.Count].Handle;
            byte[] write = new WriteTags { Handles = { handle }, Samples = rows }.ToByteArray();
            if (isAccepted)
            {
                Assert.Empty(WrittenTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Write, write)).Statuses);
            }
            else
            {
                RequestFailedException e = await Loopback.FailureAsync(client, TagMessageType.Write, write);
                Assert.Equal(ErrorCode.MalformedBody, e.Code);
                Assert.Contains("beyond the range of its type", e.Message, StringComparison.Ordinal);
            }
        }

        Assert.Equal(isAccepted ? ["small", "smalls"] : [], _written);
        await GoesOnAsync();

        FastPort.Tags.Messages.TagSamples Message(byte[] types, int[] values)
        {
            var rows = new FastPort.Tags.Messages.TagSamples { Count = 1, Types_ = ByteString.CopyFrom(types) };
            if (type is TagType.SByte or TagType.Int16)
            {
                rows.Ints.Add(values);
            }
            else
            {
                rows.Uints.Add(values.Select(static value => (uint)value));
            }

            if (values.Length > 1)
            {
                rows.Lengths.Add(values.Length);
            }

            return rows;
        }
    }

    private async Task GoesOnAsync() => Assert.Equal(7, (await _client.ReadAsync("count")).Value);

    private static TagValue Small(TagType type) => type switch
    {
        TagType.SByte => TagValue.From((sbyte)1),
        TagType.Int16 => TagValue.From((short)1),
        TagType.Byte => TagValue.From((byte)1),
        _ => TagValue.From((ushort)1),
    };

    private static TagValue SmallArray(TagType type) => type switch
    {
        TagType.SByte => TagValue.FromArray<sbyte>([1]),
        TagType.Int16 => TagValue.FromArray<short>([1]),
        TagType.Byte => TagValue.FromArray<byte>([1]),
        _ => TagValue.FromArray<ushort>([1]),
    };

    private static FastPort.Tags.Messages.TagSamples Rows(TagSamples samples) =>
        FastPort.Tags.Messages.TagSamples.Parser.ParseFrom(samples.ToBytes());

    private async Task<FastPortClient> ConnectAsync()
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = _bridge.Endpoint, RequestTimeout = Loopback.Soon });
        await client.ConnectAsync();
        return client;
    }
}
