using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <content>What a source goes on with after its request was answered.</content>
public sealed partial class TagServerTests
{
    // Requests of a session at a time.
    private const int Places = 4;

    [Fact]
    public async Task Calls_that_were_given_up_keep_their_places_until_the_source_has_ended_them()
    {
        var end = new TaskCompletionSource<TagStatus>(TaskCreationOptions.RunContinuationsAsynchronously);
        int calls = 0;
        _source.Method = () =>
        {
            Interlocked.Increment(ref calls);
            return new(end.Task);
        };
        await using TagBridge bridge = await StartNarrowAsync();
        await using FastPortClient client = await ConnectAsync(bridge);
        byte[] call = new CallMethod { Name = "method", TimeoutMs = 1 }.ToByteArray();

        Task<byte[]>[] replies = [.. Enumerable.Range(0, 3 * Places).Select(_ => client.RequestAsync(TagMessageType.Call, call))];
        await Patience.UntilAsync(() => replies.Count(static reply => reply.IsCompleted) >= Places, "the first ones are answered");
        await Patience.UntilSteadyAsync(() => Volatile.Read(ref calls), "no more are made");
        Assert.Equal((Places, Places), (Volatile.Read(ref calls), replies.Count(static reply => reply.IsCompleted)));
        end.SetResult(TagStatus.Good);

        TagStatus[] statuses = [.. (await Task.WhenAll(replies).InTimeAsync()).Select(StatusOf)];
        Assert.Equal((Places, 2 * Places), (statuses.Count(IsTimeout), statuses.Count(static status => status.IsGood)));

        static bool IsTimeout(TagStatus status) => status == TagStatus.BadTimeout;
        static TagStatus StatusOf(byte[] reply) => new(MethodResult.Parser.ParseFrom(reply).Status);
    }

    [Fact]
    public async Task Writes_that_were_given_up_keep_their_places_until_the_source_has_ended_them()
    {
        await using TagBridge bridge = await StartNarrowAsync();
        await using FastPortClient client = await ConnectAsync(bridge);
        ResolvedTags tags = ResolvedTags.Parser.ParseFrom(
            await client.RequestAsync(TagMessageType.Resolve, new ResolveTags { Names = { "1" } }.ToByteArray()));

        Task<byte[]>[] replies = [.. Enumerable.Range(0, 3 * Places).Select(WriteAsync)];
        await Patience.UntilAsync(() => replies.Count(static reply => reply.IsCompleted) >= Places, "the first ones are answered");
        await Patience.UntilSteadyAsync(() => replies.Count(static reply => reply.IsCompleted), "no more are answered");
        Assert.Equal((Places, 1), (replies.Count(static reply => reply.IsCompleted), _source.Count));

        // Those that were given up before they began are not written; the others have their turn.
        List<int> written = [];
        Task<byte[][]> all = Task.WhenAll(replies);
        while (!all.IsCompleted)
        {
            Task<ControlledSource.Call> next = _source.NextAsync();
            if (await Task.WhenAny(next, all) == next)
            {
                ControlledSource.Call call = await next;
                written.Add(Assert.Single(call.Values));
                call.End.SetResult(TagStatus.Good);
            }
        }

        Assert.All(await all, static reply => Assert.InRange(WrittenTags.Parser.ParseFrom(reply).Statuses.Count, 0, 1));
        Assert.Equal(0, written[0]);
        Assert.Equal(written.Distinct().Order(), written);
        Assert.DoesNotContain(written.Skip(1), static value => value < Places);

        Task<byte[]> WriteAsync(int value)
        {
            var rows = new TagSamples();
            rows.Add(value);
            var request = new WriteTags
            {
                Handles = { tags.Tags[0].Handle },
                Samples = FastPort.Tags.Messages.TagSamples.Parser.ParseFrom(rows.ToBytes()),
                TimeoutMs = 1,
            };
            return client.RequestAsync(TagMessageType.Write, request.ToByteArray());
        }
    }

    [Fact]
    public async Task A_feed_whose_source_is_stuck_keeps_no_other_one_open_when_its_session_has_ended()
    {
        var never = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        FaultySource[] sources = [new FaultySource { Removing = () => never.Task }, new FaultySource()];
        sources[0].Tags.Add("one", 1);
        sources[1].Tags.Add("two", 1);
        await using TagBridge bridge = await TagBridge.StartAsync(sources, new TagServerOptions { SourceTimeout = TimeSpan.FromDays(1) });
        TagClient client = await bridge.ConnectAsync();
        await client.SubscribeAsync(await client.ResolveAsync(["one"]));
        await client.SubscribeAsync(await client.ResolveAsync(["two"]));

        await client.DisposeAsync();

        await Patience.UntilAsync(() => sources[1].Feeds == 0, "the other one is closed");
        Assert.Equal(1, sources[0].Feeds);
        never.SetResult();
        await Patience.UntilAsync(() => sources[0].Feeds == 0, "the first one is closed, too");
    }

    private Task<TagBridge> StartNarrowAsync() => TagBridge.StartAsync(
        [_source], new TagServerOptions(), configure: static options => options.Session.MaxConcurrency = Places);

    private static async Task<FastPortClient> ConnectAsync(TagBridge bridge)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = bridge.Endpoint, RequestTimeout = Loopback.Soon });
        await client.ConnectAsync();
        return client;
    }
}
