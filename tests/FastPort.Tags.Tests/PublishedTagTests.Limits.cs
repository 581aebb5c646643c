using FastPort.Tags.Messages;
using Google.Protobuf;
using Google.Protobuf.Collections;
using Xunit;

namespace FastPort.Tags.Tests;

/// <content>Many and large tags, and what the server refuses.</content>
public sealed partial class PublishedTagTests
{
    [Fact]
    public async Task Thousands_of_tags_are_declared_and_pushed_in_full()
    {
        var source = new MemoryTagSource();
        for (int i = 0; i < Many; i++)
        {
            source.Add($"many/{i}", new string('x', 200) + i);
        }

        TagPublication publication = await _publisher.PublishAsync(source);
        TagList tags = await _client.ResolveAsync(publication.Names);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        HashSet<string> missing = [.. publication.Names];
        await foreach (TagChange change in subscription.WithCancellation(_limit.Token))
        {
            if (change.Sample.Status.IsGood)
            {
                Assert.EndsWith(change.Name["many/".Length..], change.Sample.Value.Get<string>(), StringComparison.Ordinal);
                missing.Remove(change.Name);
                if (missing.Count == 0)
                {
                    break;
                }
            }
        }

        Assert.Empty(missing);
    }

    [Fact]
    public async Task A_value_larger_than_a_frame_is_told_as_such_and_the_others_go_on()
    {
        _press.Add("press/log", new string('x', 3_000_000));
        await _publisher.PublishAsync(_press);

        await UntilAsync("press/speed", 12.5);
        await UntilAsync("press/log", TagStatus.BadResponseTooLarge);
    }

    [Fact]
    public async Task Tags_with_long_texts_are_declared_in_requests_that_fit_and_one_that_fits_none_is_refused()
    {
        for (int i = 0; i < 50; i++)
        {
            _press.Add(new TagInfo(0, $"long/{i}") { Description = new string('x', 50_000) }, i);
        }

        _press.Add(new TagInfo(0, "longest") { Description = new string('x', 3_000_000) }, 1);

        TagPublication publication = await _publisher.PublishAsync(_press);

        // Longer than the server allows, but it has got them.
        Assert.Equal(51, publication.Statuses.Count(static status => status == TagStatus.BadInvalidArgument));
        await UntilAsync("press/speed", 12.5);
    }

    [Fact]
    public async Task Large_writes_of_several_clients_that_come_together_are_divided_into_requests_that_fit()
    {
        _press.Add("press/program", "", isWritable: true);
        _press.Add("press/recipe", "", isWritable: true);
        await _publisher.PublishAsync(_press);
        await UntilAsync("press/recipe", "");
        int[] tags =
            [.. (await InfosAsync("press/program", "press/speed", "press/recipe", "press/counts")).Select(static info => info.Tag)];
        var values = new TagSamples();
        values.Add(new string('p', 600_000));
        values.Add(7.0);
        values.Add(new string('r', 600_000));
        values.Add(TagValue.FromArray(new int[300_000]));
        var statuses = new TagStatus[4];

        Assert.Equal(TagStatus.Good, await _published.WriteAsync(tags, values, statuses, _limit.Token));

        Assert.Equal([TagStatus.Good, TagStatus.Good, TagStatus.Good, TagStatus.BadResponseTooLarge], statuses);
        Assert.Equal(new string('p', 600_000), (await _client.ReadAsync("press/program")).Value.Get<string>());
        Assert.Equal(new string('r', 600_000), (await _client.ReadAsync("press/recipe")).Value.Get<string>());
        Assert.Equal(TagValue.FromArray([1, 2, 3]), (await _client.ReadAsync("press/counts")).Value);
    }

    [Fact]
    public async Task Declare_needs_a_routing_id()
    {
        await Assert.ThrowsAsync<InvalidOperationException>(() => _client.PublishAsync(_press).AsTask());
        await using FastPortClient client = await ConnectAsync(string.Empty);

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => DeclareAsync(client, Tag("a")));

        Assert.Equal(ErrorCode.Forbidden, e.Code);
    }

    [Fact]
    public async Task Names_types_and_numbers_that_are_not_allowed_are_refused_one_by_one()
    {
        await using FastPortClient client = await ConnectAsync("client");
        DeclaredTags declared = await DeclareAsync(
            client, Tag("good"), Tag(""), Tag("a//b"), Tag("/a"), Tag("a\u0085b"), Tag("a\u2028b"), Tag(new string('x', 513)),
            Tag("a", type: 26),
            Tag("a", rank: 0), Tag("a", rank: -3), Tag("a", rank: 17), Tag("good", type: 1));

        Assert.Equal(
            [
                TagStatus.Good, .. Enumerable.Repeat(TagStatus.BadInvalidArgument, 10), TagStatus.BadTypeMismatch,
            ],
            declared.Statuses.Select(static code => new TagStatus(code)));
        Assert.Equal(1, declared.Handles.Count(static handle => handle != 0));
        declared = await DeclareAsync(client, [.. Enumerable.Range(0, Many + 10).Select(static i => Tag($"{i}"))]);
        Assert.Equal(TagStatus.BadTooManyOperations.Code, Assert.Single(declared.Statuses, static code => code != 0));
    }

    [Fact]
    public async Task A_publisher_has_room_for_so_many_tags_texts_and_values_and_leaves_room_for_others()
    {
        var options = new PublishedTagOptions
        {
            MaxTagsPerPublisher = 2,
            MaxTextLength = 3,
            MaxValueBytes = 7000,
            MaxValueBytesPerPublisher = 4000,
        };
        await using var source = new PublishedTagSource(options: options);
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient greedy = await ConnectAsync("greedy", bridge);
        await using FastPortClient modest = await ConnectAsync("modest", bridge);
        DeclaredTag unit = Tag("unit");
        unit.Unit = "1234";
        DeclaredTag description = Tag("description");
        description.Description = "1234";
        const uint Text = (uint)TagType.String;

        DeclaredTags declared = await DeclareAsync(greedy, unit, description, Tag("a", Text), Tag("b", Text), Tag("c", Text));
        Assert.Equal(
            [TagStatus.BadInvalidArgument, TagStatus.BadInvalidArgument, TagStatus.Good, TagStatus.Good, TagStatus.BadTooManyOperations],
            declared.Statuses.Select(static code => new TagStatus(code)));
        uint other = Assert.Single((await DeclareAsync(modest, Tag("c", Text))).Handles);

        Assert.Equal(
            [TagStatus.Good, TagStatus.BadResponseTooLarge],
            await PushAsync(greedy, (declared.Handles[2], 1500), (declared.Handles[3], 1000)));
        Assert.Equal([TagStatus.Good, TagStatus.Good], await PushAsync(greedy, (declared.Handles[2], 800), (declared.Handles[3], 1000)));
        Assert.Equal([TagStatus.BadResponseTooLarge], await PushAsync(modest, (other, 1700)));
        Assert.Equal([TagStatus.Good], await PushAsync(modest, (other, 1200)));

        static async Task<TagStatus[]> PushAsync(FastPortClient client, params (uint Handle, int Length)[] texts)
        {
            var samples = new TagSamples();
            Array.ForEach(texts, text => samples.Add(new string('x', text.Length)));
            var push = new PushTags { Handles = { texts.Select(static text => text.Handle) }, Samples = Message(samples) };
            var statuses = WrittenTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Push, push.ToByteArray())).Statuses;
            return [.. texts.Select((_, i) => new TagStatus(statuses.Count == 0 ? 0 : statuses[Math.Min(i, statuses.Count - 1)]))];
        }
    }

    [Fact]
    public async Task Values_count_with_the_memory_that_they_take()
    {
        await using var source = new PublishedTagSource(options: new PublishedTagOptions { MaxValueBytesPerPublisher = 100_000 });
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient client = await ConnectAsync("client", bridge);
        uint handle = Assert.Single((await DeclareAsync(client, Tag("a", (uint)TagType.ByteString, rank: 1))).Handles);

        // In a message each element has five bytes.
        Assert.Equal([TagStatus.BadResponseTooLarge.Code], await PushAsync(4000));
        Assert.Empty(await PushAsync(2000));

        async Task<RepeatedField<uint>> PushAsync(int count)
        {
            var samples = new TagSamples();
            samples.Add(TagValue.FromArray<byte[]>([.. Enumerable.Range(0, count).Select(static i => new[] { (byte)i })]));
            var push = new PushTags { Handles = { handle }, Samples = Message(samples) };
            return WrittenTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Push, push.ToByteArray())).Statuses;
        }
    }

    [Fact]
    public async Task An_authorizer_that_blocks_holds_up_no_push_of_another_publisher()
    {
        using var asked = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        await using var source = new PublishedTagSource(authorizer: (_, _, name, _) =>
        {
            if (name == "slow")
            {
                asked.Set();
                release.Wait(Patience.Limit);
            }

            return true;
        });
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient slow = await ConnectAsync("slow", bridge);
        await using FastPortClient client = await ConnectAsync("client", bridge);
        uint handle = (await DeclareAsync(client, Tag("a"))).Handles[0];
        Task<DeclaredTags> declaring = DeclareAsync(slow, Tag("slow"));
        Assert.True(asked.Wait(Patience.Limit));
        var samples = new TagSamples();
        samples.Add(5);
        var push = new PushTags { Handles = { handle }, Samples = Message(samples) };

        byte[] pushed = await client.RequestAsync(TagMessageType.Push, push.ToByteArray(), TimeSpan.FromSeconds(10));

        release.Set();
        Assert.Empty(WrittenTags.Parser.ParseFrom(pushed).Statuses);
        Assert.Empty((await declaring).Statuses);
    }

    [Fact]
    public async Task A_right_that_ends_while_its_tag_is_being_declared_is_over()
    {
        PublishedTagSource? source = null;
        bool isAllowed = true;
        source = new PublishedTagSource(authorizer: (_, _, _, _) =>
        {
            // This answer is given before the change and its review.
            bool answer = isAllowed;
            if (answer)
            {
                isAllowed = false;
                source!.ReviewAccess();
            }

            return answer;
        });
        await using TagBridge bridge = await TagBridge.StartAsync(source);
        await using FastPortClient client = await ConnectAsync("client", bridge);

        Assert.Equal([TagStatus.BadUserAccessDenied.Code], (await DeclareAsync(client, Tag("a"))).Statuses);
    }

    [Fact]
    public async Task A_tag_that_is_declared_as_write_only_is_not_read()
    {
        await using FastPortClient client = await ConnectAsync("client");
        DeclaredTag secret = Tag("secret");
        secret.Access = 2;
        await DeclareAsync(client, secret);

        Assert.Equal(TagStatus.BadNotReadable, (await _client.ReadAsync("secret")).Status);
    }

    [Fact]
    public async Task Push_takes_only_the_sessions_own_handles_and_values_of_their_type()
    {
        await using FastPortClient client = await ConnectAsync("client");
        await using FastPortClient stranger = await ConnectAsync("stranger");
        uint handle = (await DeclareAsync(client, Tag("a"))).Handles[0];
        var samples = new TagSamples();
        samples.Add(5);
        samples.Add(1.5);
        samples.Add(6);
        var push = new PushTags { Handles = { handle, handle, 99 }, Samples = Message(samples) };

        Assert.Equal(
            [TagStatus.BadHandleInvalid.Code],
            WrittenTags.Parser.ParseFrom(await stranger.RequestAsync(TagMessageType.Push, push.ToByteArray())).Statuses);
        Assert.Equal(TagStatus.BadWaitingForInitialData, (await _client.ReadAsync("a")).Status);
        Assert.Equal(
            [0, TagStatus.BadTypeMismatch.Code, TagStatus.BadHandleInvalid.Code],
            WrittenTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Push, push.ToByteArray())).Statuses);
        Assert.Equal(TagStatus.BadTypeMismatch, (await _client.ReadAsync("a")).Status);
        foreach (ushort type in (ushort[])[TagMessageType.Declare, TagMessageType.Push])
        {
            Assert.Equal(ErrorCode.MalformedBody, (await Loopback.FailureAsync(client, type, Loopback.NoMessage)).Code);
        }
    }

    [Fact]
    public async Task Values_have_as_many_dimensions_as_their_tags_rank_says()
    {
        // The last one has no elements: OPC UA clients write it to a matrix, too.
        TagValue[] values = [5, TagValue.FromArray([1, 2]), TagValue.FromArray([1, 2, 3, 4], 2, 2), TagValue.FromArray<int>([])];
        (int Rank, bool[] Accepted)[] ranks =
        [
            (-2, [true, true, true, true]), (-1, [true, false, false, false]), (1, [false, true, false, true]),
            (2, [false, false, true, true]), (3, [false, false, false, true]),
        ];
        await using FastPortClient client = await ConnectAsync("client");
        foreach ((int rank, bool[] accepted) in ranks)
        {
            DeclaredTag tag = Tag($"rank {rank}", rank: rank);
            uint handle = (await DeclareAsync(client, tag)).Handles[0];
            var samples = new TagSamples();
            Array.ForEach(values, value => samples.Add(value));
            var push = new PushTags { Handles = { handle, handle, handle, handle }, Samples = Message(samples) };
            RepeatedField<uint> statuses =
                WrittenTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Push, push.ToByteArray())).Statuses;
            Assert.Equal(accepted, values.Select((_, i) => statuses.Count == 0 || statuses[i % statuses.Count] == 0));
        }

        // Sources of a program's own may have tags of these ranks.
        ranks = [.. ranks, (0, [false, true, true, true]), (-3, [true, true, false, true])];
        foreach ((int rank, bool[] accepted) in ranks)
        {
            var memory = new MemoryTagSource();
            memory.Add(new TagInfo(0, "tag") { Type = TagType.Int32, Rank = rank, IsWritable = true }, default);
            var samples = new TagSamples();
            Array.ForEach(values, value => samples.Add(value));
            var statuses = new TagStatus[values.Length];
            await memory.WriteAsync([0, 0, 0, 0], samples, statuses, _limit.Token);
            Assert.Equal(accepted, statuses.Select(static status => status.IsGood));
        }
    }

    [Fact]
    public async Task A_write_of_another_number_of_dimensions_does_not_get_to_the_publisher()
    {
        await _publisher.PublishAsync(_press);
        await UntilAsync("press/speed", 12.5);

        Assert.Equal(TagStatus.BadTypeMismatch, await _client.WriteAsync("press/counts", TagValue.FromArray([1, 2, 3, 4], 2, 2)));
        Assert.Equal(TagStatus.Good, await _client.WriteAsync("press/counts", TagValue.FromArray([4])));
    }

    private static FastPort.Tags.Messages.TagSamples Message(TagSamples samples) =>
        FastPort.Tags.Messages.TagSamples.Parser.ParseFrom(samples.ToBytes());

    private static DeclaredTag Tag(string name, uint type = (uint)TagType.Int32, int rank = -1) =>
        new() { Name = name, Type = type, Rank = rank, Access = 1 };

    private static async Task<DeclaredTags> DeclareAsync(FastPortClient client, params DeclaredTag[] tags) =>
        DeclaredTags.Parser.ParseFrom(await client.RequestAsync(TagMessageType.Declare, new DeclareTags { Tags = { tags } }.ToByteArray()));
}
