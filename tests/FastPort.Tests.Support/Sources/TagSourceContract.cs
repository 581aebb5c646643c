using FastPort.Tags;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>What holds for every source of tags. Each has a class of tests that derives from this one.</summary>
public abstract class TagSourceContract : IAsyncLifetime
{
    private static readonly string[] Names = ["press/speed", "press/state", "press/counts"];

    private readonly int[] _tags = new int[Names.Length];
    private SourceUnderTest _tested = null!;

    private ITagSource Source => _tested.Source;

    private int Speed => _tags[0];

    private int State => _tags[1];

    private int Counts => _tags[2];

    public async ValueTask InitializeAsync()
    {
        _tested = await StartAsync();
        TagInfo?[] infos = await ResolveAsync(Names);
        for (int i = 0; i < _tags.Length; i++)
        {
            _tags[i] = infos[i]!.Tag;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _tested.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task Names_have_numbers_that_stay_and_descriptions()
    {
        TagInfo?[] infos = await ResolveAsync("press/nothing", "press/counts", "press/speed", "press/state", "press/speed");

        Assert.Null(infos[0]);
        Assert.Equal([Counts, Speed, State, Speed], infos[1..].Select(static info => info!.Tag));
        Assert.Equal(("press/counts", TagType.Int32, 1, true), Described(infos[1]!));
        Assert.Equal(("press/speed", TagType.Double, -1, true), Described(infos[2]!));
        Assert.Equal(("press/state", TagType.String, -1, false), Described(infos[3]!));

        static (string Name, TagType Type, int Rank, bool IsWritable) Described(TagInfo info) =>
            (info.Name, info.Type, info.Rank, info.IsWritable);
    }

    [Fact]
    public async Task Read_tags_have_a_row_each_in_order()
    {
        TagSamples samples = await ReadAsync(State, Speed, Counts, Speed);

        Assert.Equal(
            ["idle", 12.5, TagValue.FromArray([1, 2, 3]), 12.5], Enumerable.Range(0, samples.Count).Select(samples.GetValue));
        Assert.All(Enumerable.Range(0, 4), row =>
        {
            Assert.Equal(TagStatus.Good, samples.GetStatus(row));
            Assert.InRange(samples.GetServerTime(row), DateTime.UtcNow.AddMinutes(-5), DateTime.UtcNow.AddMinutes(5));
        });
    }

    [Fact]
    public async Task Reads_and_writes_at_once_do_not_mix()
    {
        await Task.WhenAll(Enumerable.Range(0, 16).Select(async reader =>
        {
            for (int i = 0; i < 20; i++)
            {
                if (reader == 0)
                {
                    Assert.Equal([TagStatus.Good], await WriteAsync((Speed, (double)i)));
                }

                TagSamples samples = await ReadAsync(reader % 2 == 0 ? [State, Speed] : [Speed, Counts, State]);
                Assert.Equal("idle", samples.GetValue(samples.Count - (reader % 2 == 0 ? 2 : 1)));
                Assert.Equal(TagType.Double, samples.GetTagType(reader % 2 == 0 ? 1 : 0));
            }
        }));
    }

    [Fact]
    public async Task Each_written_tag_has_a_status_and_those_accepted_have_their_value()
    {
        Assert.Equal(
            [TagStatus.Good, TagStatus.BadNotWritable, TagStatus.BadTypeMismatch],
            await WriteAsync((Speed, 20.5), (State, "busy"), (Counts, 5)));
        Assert.Equal([TagStatus.BadTypeMismatch], await WriteAsync((Speed, "fast")));
        Assert.Equal([TagStatus.Good], await WriteAsync((Counts, TagValue.FromArray([4, 5]))));

        await Patience.UntilAsync(
            async () => await ReadAsync(Speed, State, Counts) is var samples && samples.GetValue(0) == 20.5
                && samples.GetValue(1) == "idle" && samples.GetValue(2) == TagValue.FromArray([4, 5]),
            "the written values are read");
    }

    [Fact]
    public async Task A_feed_reports_first_values_and_then_changes_in_order()
    {
        await using FeedWatch watch = await FeedWatch.StartAsync(Source, Speed, State, Counts);
        await watch.UntilAsync(Speed, 12.5);
        await watch.UntilAsync(State, "idle");
        await watch.UntilAsync(Counts, TagValue.FromArray([1, 2, 3]));
        Assert.True(watch.Feed.Interval >= TimeSpan.Zero);

        for (int i = 1; i <= 5; i++)
        {
            _tested.Set("press/speed", (double)i);
            await watch.UntilAsync(Speed, (double)i);
        }

        _tested.Set("press/state", "busy");
        await watch.UntilAsync(State, "busy");
        Assert.Equal([TagStatus.Good], await WriteAsync((Speed, 30.0)));
        await watch.UntilAsync(Speed, 30.0);

        // A value may be reported again.
        double[] reported = [.. watch.Of(Speed).Select(static one => one.Value.Get<double>())];
        Assert.Equal([12.5, 1, 2, 3, 4, 5, 30], reported.Where((one, i) => i == 0 || one != reported[i - 1]));
        Assert.Single(watch.Of(Counts));
        Assert.Equal(0, watch.Overlaps);
    }

    [Fact]
    public async Task A_feed_reports_no_more_of_removed_tags_and_nothing_once_closed()
    {
        await using FeedWatch other = await FeedWatch.StartAsync(Source, Speed, Counts);
        await using (FeedWatch watch = await FeedWatch.StartAsync(Source, Speed, State))
        {
            await watch.UntilAsync(Speed, 12.5);
            await watch.UntilAsync(State, "idle");
            await watch.Feed.RemoveAsync([Speed], Patience.Token).InTimeAsync();
            _tested.Set("press/speed", 1.0);
            await other.UntilAsync(Speed, 1.0);
            _tested.Set("press/state", "busy");
            await watch.UntilAsync(State, "busy");
            Assert.Single(watch.Of(Speed));

            // A tag that was removed is a new one.
            await watch.Feed.AddAsync([Speed], new TagStatus[1], Patience.Token).InTimeAsync();
            await watch.UntilAsync(Speed, 1.0);

            await watch.Feed.DisposeAsync().InTimeAsync();
            int before = watch.Of(State).Length;
            _tested.Set("press/state", "idle");
            _tested.Set("press/speed", 2.0);
            await other.UntilAsync(Speed, 2.0);
            Assert.Equal(before, watch.Of(State).Length);
        }

        Assert.Single(other.Of(Counts));
    }

    [Fact]
    public async Task Names_with_slashes_are_browsed_as_folders()
    {
        List<TagBrowseNode> root = [];
        Assert.Equal(TagStatus.Good, await Source.BrowseAsync(string.Empty, root, Patience.Token).InTimeAsync());
        Assert.Contains(new TagBrowseNode("press", "press", TagBrowseKind.Folder, true), root);

        List<TagBrowseNode> nodes = [];
        Assert.Equal(TagStatus.Good, await Source.BrowseAsync("press", nodes, Patience.Token).InTimeAsync());
        string[] methods = _tested.HasMethods ? ["press/add"] : [];
        Assert.Equal(
            [.. Names.Order()], nodes.Where(static node => node.Kind == TagBrowseKind.Tag).Select(static node => node.Name).Order());
        Assert.Equal(methods, nodes.Where(static node => node.Kind == TagBrowseKind.Method).Select(static node => node.Name));

        Assert.Equal(TagStatus.BadNodeIdUnknown, await Source.BrowseAsync("press/nothing", [], Patience.Token).InTimeAsync());
    }

    [Fact]
    public async Task A_method_is_called_by_its_name()
    {
        var outputs = new TagSamples();

        Assert.Equal(TagStatus.BadMethodInvalid, await CallAsync("press/nothing", outputs, 2, 3));
        Assert.Equal(
            _tested.HasMethods ? TagStatus.Good : TagStatus.BadMethodInvalid, await CallAsync("press/add", outputs, 2, 3));
        Assert.Equal(_tested.HasMethods ? [5] : [], Enumerable.Range(0, outputs.Count).Select(outputs.GetValue));

        outputs.Clear();
        Assert.True((await CallAsync("press/add", outputs, 2)).IsBad);
        Assert.Equal(0, outputs.Count);
    }

    /// <summary>Nothing is good while the device is away. Afterwards everything continues, with the same numbers.</summary>
    [Fact]
    public async Task A_lost_device_is_told_and_comes_back()
    {
        int changes = 0;
        Source.ConnectionChanged += () => Interlocked.Increment(ref changes);
        await using FeedWatch watch = await FeedWatch.StartAsync(Source, Speed, State);
        await watch.UntilAsync(Speed, 12.5);
        for (int round = 0; round < 2; round++)
        {
            _tested.Set("press/speed", 1.0);
            await watch.UntilAsync(Speed, 1.0);
            int before = Volatile.Read(ref changes);

            await _tested.LoseAsync();
            await Patience.UntilAsync(async () => await StatusAsync() == TagStatus.BadNoCommunication, "the source reports the loss");
            if (_tested.HasOneDevice)
            {
                await Patience.UntilAsync(() => !Source.IsConnected && Volatile.Read(ref changes) == before + 1, "the loss is noticed");
            }
            else
            {
                Assert.Equal([TagStatus.BadNoCommunication], await WriteAsync((Speed, 3.0)));
            }

            await _tested.ReturnAsync();
            await Patience.UntilAsync(async () => await StatusAsync() == TagStatus.Good, "the device is back");
            Assert.Equal(_tested.HasOneDevice ? before + 2 : before, Volatile.Read(ref changes));
            Assert.Equal(_tags, (await ResolveAsync(Names)).Select(static info => info!.Tag));
            await watch.UntilAgainAsync(Speed, 12.5);
            Assert.Equal([TagStatus.Good], await WriteAsync((Speed, 2.0)));
            await watch.UntilAgainAsync(Speed, 2.0);
        }
    }

    /// <summary>A source may ignore the token where it does not wait.</summary>
    [Fact]
    public async Task Calls_that_nobody_waits_for_end_and_leave_the_source_as_it_is()
    {
        var canceled = new CancellationToken(canceled: true);

        await EndsAsync(async () => await Source.ReadAsync([Speed], new TagSamples(), canceled));
        await EndsAsync(async () => await Source.CallAsync("press/add", Samples(2, 3), new TagSamples(), canceled));
        await EndsAsync(async () => await Source.BrowseAsync("press", [], canceled));
        await EndsAsync(async () =>
        {
            await using ITagFeed feed = await Source.OpenFeedAsync(FeedWatch.Interval, new Unheard(), canceled);
            await feed.AddAsync([Speed], new TagStatus[1], canceled);
        });
        await EndsAsync(async () => await Source.WriteAsync([Counts], Samples(TagValue.FromArray([7])), new TagStatus[1], canceled));

        Assert.Equal(12.5, (await ReadAsync(Speed)).GetValue(0));
        Assert.Equal([TagStatus.Good], await WriteAsync((Counts, TagValue.FromArray([8]))));
    }

    [Fact]
    public async Task A_source_that_is_closed_reports_nothing_and_can_be_closed_again()
    {
        await using FeedWatch watch = await FeedWatch.StartAsync(Source, Speed);
        await watch.UntilAsync(Speed, 12.5);

        await Source.DisposeAsync().InTimeAsync();
        await Source.DisposeAsync().InTimeAsync();

        int before = watch.Of(Speed).Length;
        _tested.Set("press/speed", 1.0);
        await EndsAsync(async () => await Source.ReadAsync([Speed], new TagSamples(), Patience.Token));
        await watch.Feed.DisposeAsync().InTimeAsync();
        Assert.Equal(before, watch.Of(Speed).Length);
    }

    /// <summary>Starts the source, whose tags are known then.</summary>
    protected abstract Task<SourceUnderTest> StartAsync();

    private static async Task EndsAsync(Func<Task> call)
    {
        Task called = call();
        await called.WaitAsync(Patience.Limit).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Assert.True(called.IsCompleted);
    }

    private static TagSamples Samples(params TagValue[] values)
    {
        var samples = new TagSamples();
        Array.ForEach(values, value => samples.Add(value));
        return samples;
    }

    private async Task<TagInfo?[]> ResolveAsync(params string[] names)
    {
        var infos = new TagInfo?[names.Length];
        await Source.ResolveAsync(names, infos, Patience.Token).InTimeAsync();
        return infos;
    }

    private async Task<TagSamples> ReadAsync(params int[] tags)
    {
        var samples = new TagSamples();
        Assert.Equal(TagStatus.Good, await Source.ReadAsync(tags, samples, Patience.Token).InTimeAsync());
        Assert.Equal(tags.Length, samples.Count);
        return samples;
    }

    // As the tag server answers a read: without a call if the source is not connected.
    private async Task<TagStatus> StatusAsync()
    {
        if (!Source.IsConnected)
        {
            return TagStatus.BadNoCommunication;
        }

        var samples = new TagSamples();
        TagStatus status = await Source.ReadAsync([Speed], samples, Patience.Token).InTimeAsync();
        return status.IsGood ? samples.GetStatus(0) : status;
    }

    private async Task<TagStatus[]> WriteAsync(params (int Tag, TagValue Value)[] writes)
    {
        var statuses = new TagStatus[writes.Length];
        TagStatus status = await Source.WriteAsync(
            Array.ConvertAll(writes, static one => one.Tag),
            Samples(Array.ConvertAll(writes, static one => one.Value)),
            statuses,
            Patience.Token).InTimeAsync();
        Assert.Equal(TagStatus.Good, status);
        return statuses;
    }

    private Task<TagStatus> CallAsync(string method, TagSamples outputs, params TagValue[] inputs) =>
        Source.CallAsync(method, Samples(inputs), outputs, Patience.Token).InTimeAsync();

    private sealed class Unheard : ITagFeedListener
    {
        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
        {
        }
    }
}
