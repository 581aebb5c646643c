using System.Collections.Concurrent;
using FastPort.Tags;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>
/// A feed as the tag server uses it: opened again when it has ended, with its tags added again where they were refused. Keeps every report.
/// </summary>
internal sealed class FeedWatch : ITagFeedListener, IAsyncDisposable
{
    public static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);

    private readonly ConcurrentQueue<(int Tag, TagSample Sample)> _reports = [];
    private readonly ITagSource _source;
    private readonly int[] _tags;
    private ITagFeed? _feed;
    private int _running;
    private int _overlaps;

    private FeedWatch(ITagSource source, int[] tags)
    {
        _source = source;
        _tags = tags;
    }

    public ITagFeed Feed => _feed!;

    /// <summary>How often calls have overlapped.</summary>
    public int Overlaps => Volatile.Read(ref _overlaps);

    public static async Task<FeedWatch> StartAsync(ITagSource source, params int[] tags)
    {
        var watch = new FeedWatch(source, tags);
        await watch.OpenAsync();
        return watch;
    }

    /// <summary>What was reported about a tag, in order.</summary>
    public TagSample[] Of(int tag) => [.. _reports.Where(one => one.Tag == tag).Select(static one => one.Sample)];

    public Task UntilAsync(int tag, TagValue value) =>
        Patience.UntilAsync(() => Of(tag).LastOrDefault() is { Status.IsGood: true } last && last.Value == value, $"{tag} is {value}");

    /// <summary>As the tag server does after a loss: the same feed if it lives, and another one if it has ended.</summary>
    public async Task UntilAgainAsync(int tag, TagValue value)
    {
        await Patience.UntilAsync(
            async () =>
            {
                if (Feed.Ended is { IsCompleted: true })
                {
                    await Feed.DisposeAsync();
                    await OpenAsync();
                }

                return Of(tag).LastOrDefault() is { Status.IsGood: true } last && last.Value == value;
            },
            $"{tag} is reported again as {value}");
    }

    public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
    {
        if (Interlocked.Increment(ref _running) != 1)
        {
            Interlocked.Increment(ref _overlaps);
        }

        for (int i = 0; i < tags.Length; i++)
        {
            _reports.Enqueue((tags[i], samples[i]));
        }

        Interlocked.Decrement(ref _running);
    }

    public ValueTask DisposeAsync() => Feed.DisposeAsync();

    private async Task OpenAsync()
    {
        _feed = await _source.OpenFeedAsync(Interval, this, Patience.Token).InTimeAsync();
        var statuses = new TagStatus[_tags.Length];
        await _feed.AddAsync(_tags, statuses, Patience.Token).InTimeAsync();
        Assert.All(statuses, static status => Assert.Equal(TagStatus.Good, status));
    }
}
