using FastPort.Telemetry;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>What the server of tags does with requests at the same time, with stuck sources and with bad input.</summary>
public sealed partial class TagServerTests : IAsyncLifetime
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    // Long enough for the server to begin a request: it begins none whose deadline has passed.
    private static readonly TimeSpan Brief = TimeSpan.FromMilliseconds(500);

    private readonly ControlledSource _source = new();
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _bridge = await TagBridge.StartAsync([_source], new TagServerOptions { MaxConcurrentReads = 1, MaxTagsPerRequest = 1000 });
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task Reads_at_the_same_time_are_gathered_and_each_tag_is_read_once()
    {
        await using TagClient other = await _bridge.ConnectAsync();
        Task<TagSamples> first = ReadAsync(_client, default, "1", "2");
        ControlledSource.Call call = await _source.NextAsync();
        Task<TagSamples> second = ReadAsync(other, default, "2", "3", "2");
        Task<TagSamples> third = ReadAsync(_client, default, "3", "4");
        await PassAsync(other, _client);
        Assert.Equal(1, _source.Count);

        call.End.SetResult(TagStatus.Good);
        Assert.Equal([1, 2], Numbers(await first));
        ControlledSource.Call gathered = await _source.NextAsync();
        gathered.End.SetResult(TagStatus.Good);

        Assert.Equal([2, 3, 4], gathered.Tags.Order());
        Assert.Equal([2, 3, 2], Numbers(await second));
        Assert.Equal([3, 4], Numbers(await third));
    }

    [Fact]
    public async Task A_read_that_allows_an_age_joins_one_under_way_and_then_the_cache_answers()
    {
        await using TagClient other = await _bridge.ConnectAsync();
        Task<TagSamples> first = ReadAsync(_client, default, "1");
        ControlledSource.Call call = await _source.NextAsync();
        Task<TagSamples> second = ReadAsync(other, Hour, "1");
        await PassAsync(other);

        call.End.SetResult(TagStatus.Good);

        Assert.Equal([1], Numbers(await first));
        Assert.Equal([1], Numbers(await second));
        Assert.Equal([1], Numbers(await ReadAsync(_client, Hour, "1")));
        Assert.Equal(1, _source.Count);
    }

    [Fact]
    public async Task Writes_of_a_tag_keep_their_order_and_those_of_others_do_not_wait()
    {
        Task<TagStatus> first = _client.WriteAsync("1", 10).AsTask();
        ControlledSource.Call call = await _source.NextAsync();
        Task<TagStatus> second = _client.WriteAsync("1", 11).AsTask();
        Task<TagStatus> other = _client.WriteAsync("2", 20).AsTask();
        ControlledSource.Call others = await _source.NextAsync();
        Assert.Equal(2, Assert.Single(others.Tags));
        others.End.SetResult(TagStatus.Good);
        Assert.Equal(TagStatus.Good, await other);
        Assert.False(second.IsCompleted);

        call.End.SetResult(TagStatus.Good);
        ControlledSource.Call next = await _source.NextAsync();
        next.End.SetResult(TagStatus.Good);

        Assert.Equal((10, 11), (call.Values[0], next.Values[0]));
        Assert.Equal((TagStatus.Good, TagStatus.Good), (await first, await second));
    }

    [Fact]
    public async Task A_tag_that_can_be_written_since_its_resolve_is_written_and_in_order()
    {
        _source.IsWritable = false;
        TagList tags = await _client.ResolveAsync(["1"]);
        Assert.Equal(TagStatus.BadNotWritable, await WriteAsync(tags, 9));
        Assert.Equal(0, _source.Count);

        _source.IsWritable = true;
        Task<TagStatus> first = WriteAsync(tags, 10);
        ControlledSource.Call call = await _source.NextAsync();
        Task<TagStatus> second = WriteAsync(tags, 11);
        await PassAsync(_client);
        call.End.SetResult(TagStatus.Good);
        Assert.Equal(TagStatus.Good, await first);

        // Since then it cannot be written again: the source says so.
        _source.IsWritable = false;
        ControlledSource.Call next = await _source.NextAsync();
        next.End.SetResult(TagStatus.BadNotWritable);
        Assert.Equal(TagStatus.BadNotWritable, await second);
        Assert.Equal((10, 11), (Assert.Single(call.Values), Assert.Single(next.Values)));
    }

    [Fact]
    public async Task A_write_that_is_refused_neither_holds_up_others_nor_makes_the_cache_forget()
    {
        TagList tags = await _client.ResolveAsync(["1"]);
        _source.IsWritable = false;
        TagList fixedTags = await _client.ResolveAsync(["2"]);
        Task<TagSamples> read = ReadAsync(_client, Hour, "2");
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await read;

        await using TagClient other = await _bridge.ConnectAsync();
        Task<TagStatus> refused = WriteAsync(fixedTags, 20);
        Task<TagStatus> written = WriteAsync(tags, 10);
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);

        Assert.Equal((TagStatus.BadNotWritable, TagStatus.Good), (await refused, await written));
        Assert.Equal([2], Numbers(await ReadAsync(other, Hour, "2")));
        Assert.Equal(2, _source.Count);
    }

    [Fact]
    public async Task A_write_makes_the_cache_forget()
    {
        Task<TagSamples> read = ReadAsync(_client, Hour, "1");
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await read;
        Task<TagStatus> write = _client.WriteAsync("1", 5).AsTask();
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await write;

        Task<TagSamples> again = ReadAsync(_client, Hour, "1");
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);

        Assert.Equal([1], Numbers(await again));
        Assert.Equal(3, _source.Count);
    }

    [Theory]
    [InlineData("1", "1[0]")]
    [InlineData("1[0]", "1")]
    [InlineData("1[0]", "1[3]")]
    public async Task Writes_of_a_tag_and_of_its_parts_keep_their_order(string written, string after)
    {
        Task<TagStatus> first = _client.WriteAsync(written, 10).AsTask();
        ControlledSource.Call call = await _source.NextAsync();
        Task<TagStatus> second = _client.WriteAsync(after, 11).AsTask();
        Task<TagStatus> other = _client.WriteAsync("2[0]", 20).AsTask();
        ControlledSource.Call others = await _source.NextAsync();
        Assert.Equal(200, Assert.Single(others.Tags));
        others.End.SetResult(TagStatus.Good);
        Assert.Equal(TagStatus.Good, await other);
        Assert.Equal(2, _source.Count);

        call.End.SetResult(TagStatus.Good);
        ControlledSource.Call next = await _source.NextAsync();
        next.End.SetResult(TagStatus.Good);

        Assert.Equal((10, 11), (call.Values[0], next.Values[0]));
        Assert.Equal((TagStatus.Good, TagStatus.Good), (await first, await second));
    }

    [Theory]
    [InlineData("1")]
    [InlineData("1[0]")]
    public async Task A_write_of_a_tag_or_a_part_makes_the_cache_forget_the_tag_and_all_parts(string written)
    {
        // Number 1 is resolved before its parts, number 2 behind one of them.
        string[] names = ["1", "1[0]", "1[3]", "2[0]", "2"];
        Task<TagSamples> read = ReadAsync(_client, Hour, names);
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await read;
        foreach (string name in (string[])[written, written.Replace('1', '2')])
        {
            Task<TagStatus> write = _client.WriteAsync(name, 5).AsTask();
            (await _source.NextAsync()).End.SetResult(TagStatus.Good);
            await write;
            Task<TagSamples> again = ReadAsync(_client, Hour, names);
            ControlledSource.Call call = await _source.NextAsync();
            call.End.SetResult(TagStatus.Good);

            Assert.Equal([1, 100, 103, 200, 2], Numbers(await again));
            Assert.Equal(name.StartsWith('1') ? [1, 100, 103] : [2, 200], call.Tags.Order());
        }
    }

    [Fact]
    public async Task What_a_feed_reports_after_a_write_may_be_older_so_only_a_read_confirms_again()
    {
        TagList tags = await _client.ResolveAsync(["1"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags);
        Task<TagStatus> write = _client.WriteAsync("1", 5).AsTask();
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await write;
        Report(4);

        Task<TagSamples> read = ReadAsync(_client, Hour, "1");
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        Assert.Equal([1], Numbers(await read));

        // From then on what it reports is newer.
        Report(6);
        Assert.Equal([6], Numbers(await ReadAsync(_client, Hour, "1")));
        Assert.Equal(2, _source.Count);
    }

    [Fact]
    public async Task A_read_after_a_write_that_gets_no_answer_is_not_answered_with_what_was_before()
    {
        Task<TagSamples> read = ReadAsync(_client, Hour, "1");
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await read;
        Task<TagStatus> write = _client.WriteAsync("1", 5).AsTask();
        (await _source.NextAsync()).End.SetResult(TagStatus.Good);
        await write;

        TagList tags = await _client.ResolveAsync(["1"]);
        TagSamples late = await _client.ReadAsync(tags, Hour, Brief);
        (await _source.NextAsync()).End.SetResult(TagStatus.BadShutdown);

        Assert.Equal(TagStatus.BadTimeout, late.GetStatus(0));
        await PassAsync(_client);
        Task<TagSamples> failed = ReadAsync(_client, Hour, "1");
        (await _source.NextAsync()).End.SetResult(TagStatus.BadShutdown);
        Assert.Equal(TagStatus.BadShutdown, (await failed).GetStatus(0));
    }

    [Fact]
    public async Task A_subscription_that_the_client_gave_up_does_not_stay()
    {
        using var source = new StuckFeedSource();
        await using TagBridge bridge = await TagBridge.StartAsync([source], new TagServerOptions { MaxSubscriptionsPerSession = 1 });
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1"]);
        using var patience = new CancellationTokenSource();
        Task<TagSubscription> given = client.SubscribeAsync(tags, cancellationToken: patience.Token).AsTask();
        await source.Asked;
        await patience.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => given);
        source.Release();

        // It ends when the source has answered.
        TagSubscription? subscription = null;
        await UntilAsync(async () =>
        {
            try
            {
                subscription = await client.SubscribeAsync(tags);
                return true;
            }
            catch (RequestFailedException e) when (e.Code == ErrorCode.Overloaded)
            {
                return false;
            }
        });

        Assert.Equal([TagStatus.Good], subscription!.Statuses);
        await subscription.DisposeAsync();
    }

    [Fact]
    public async Task A_stuck_source_is_answered_in_time_and_nothing_is_written_twice()
    {
        Assert.Equal(TagStatus.BadTimeout, (await _client.ReadAsync("1", timeout: Brief)).Status);
        Assert.Equal(TagStatus.BadTimeout, await _client.WriteAsync("2", 5, Brief));
        Assert.Equal(TagStatus.BadTimeout, await _client.WriteAsync("2", 6, Brief));
        Assert.Equal(1, Assert.Single((await _source.NextAsync()).Tags));
        ControlledSource.Call written = await _source.NextAsync();

        // The second write was given up before it was begun.
        written.End.SetResult(TagStatus.Good);
        Task<TagStatus> third = _client.WriteAsync("2", 7).AsTask();
        ControlledSource.Call next = await _source.NextAsync();
        next.End.SetResult(TagStatus.Good);

        Assert.Equal(TagStatus.Good, await third);
        Assert.Equal((5, 7), (written.Values[0], next.Values[0]));
    }

    [Fact]
    public async Task A_source_that_throws_is_an_internal_error_of_the_tags()
    {
        Task<TagSamples> read = ReadAsync(_client, default, "1");
        (await _source.NextAsync()).End.SetException(new InvalidOperationException("a defect"));

        Assert.Equal(TagStatus.BadInternalError, (await read).GetStatus(0));
    }

    [Fact]
    public async Task A_call_leaves_no_timer_behind()
    {
        var clock = new FakeClock();
        var memory = new MemoryTagSource();
        memory.AddMethod("one", static _ => [1]);
        await using TagBridge bridge = await TagBridge.StartAsync(
            [memory, _source], new TagServerOptions(), latencies: new LatencyStats(LatencyRole.Server, time: clock));
        await using TagClient client = await bridge.ConnectAsync();

        Assert.Equal([1], await client.CallAsync("one", []));
        await Assert.ThrowsAsync<TagException>(async () => await client.CallAsync("nothing", []));

        await Patience.UntilAsync(() => clock.Timers == 0, "the timers are disposed");
    }

    private static async Task UntilAsync(Func<Task<bool>> condition)
    {
        using var limit = new CancellationTokenSource(Loopback.Soon);
        while (!await condition())
        {
            limit.Token.ThrowIfCancellationRequested();
        }
    }

    private void Report(int value)
    {
        var samples = new TagSamples();
        samples.Add(value);
        _source.Listener!.OnChanges([1], samples);
    }

    private async Task<TagStatus> WriteAsync(TagList tags, int value)
    {
        var values = new TagSamples();
        values.Add(value);
        return (await _client.WriteAsync(tags, values))[0];
    }

    private static async Task<TagSamples> ReadAsync(TagClient client, TimeSpan maxAge, params string[] names) =>
        await client.ReadAsync(await client.ResolveAsync(names), maxAge);

    private static IEnumerable<int> Numbers(TagSamples samples) =>
        Enumerable.Range(0, samples.Count).Select(row => samples[row].Value.Get<int>());

    // What was sent before has been begun: queued requests of a session start in order.
    private static async Task PassAsync(params TagClient[] clients)
    {
        foreach (TagClient client in clients)
        {
            await client.ResolveAsync(["0"]);
            await client.ResolveAsync(["0"]);
        }
    }

    private async Task<FastPortClient> ConnectAsync()
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = _bridge.Endpoint });
        await client.ConnectAsync();
        return client;
    }
}
