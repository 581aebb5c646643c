using System.Threading.Channels;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Feeds that read their tags again and again.</summary>
public sealed class PolledTagFeedTests
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly FakeClock _clock = new();

    [Fact]
    public async Task A_tag_that_is_removed_and_added_again_between_two_reads_gets_its_first_value()
    {
        await using var memory = new MemoryTagSource(time: _clock);
        memory.Add("tag", 7);
        var listener = new Listener();
        await using var feed = new PolledTagFeed(memory, Interval, listener, _clock);
        await feed.AddAsync([0], new TagStatus[1], CancellationToken.None);
        Assert.Equal(0, Assert.Single(await NextAsync(listener)));
        Assert.Empty(await NextAsync(listener));

        await feed.RemoveAsync([0], CancellationToken.None);
        await feed.AddAsync([0], new TagStatus[1], CancellationToken.None);

        Assert.Equal(0, Assert.Single(await NextAsync(listener)));
        Assert.Empty(await NextAsync(listener));
    }

    [Fact]
    public async Task A_feed_that_is_disposed_again_stays_closed()
    {
        await using var memory = new MemoryTagSource(time: _clock);
        memory.Add("tag", 7);
        var listener = new Listener();
        var feed = new PolledTagFeed(memory, Interval, listener, _clock);
        await feed.AddAsync([0], new TagStatus[1], CancellationToken.None);

        await feed.DisposeAsync();
        await feed.DisposeAsync();

        Assert.Equal(0, _clock.Timers);
    }

    [Fact]
    public async Task The_age_of_a_value_counts_from_when_its_read_was_sent()
    {
        var source = new ControlledSource();
        source.Feeds = (interval, listener) => new PolledTagFeed(source, interval, listener, _clock);
        await using TagBridge bridge = await TagBridge.StartAsync(
            [source], new TagServerOptions(), latencies: new LatencyStats(LatencyRole.Server, time: _clock));
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1"]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = Interval });
        _clock.Advance(Interval);
        ControlledSource.Call poll = await source.NextAsync();

        // It takes long, so the next one follows at once.
        _clock.Advance(5 * Interval);
        poll.End.SetResult(TagStatus.Good);
        ControlledSource.Call next = await source.NextAsync();
        Assert.Equal(1, (await client.ReadAsync(tags, maxAge: 6 * Interval))[0].Value.Get<int>());
        Assert.Equal(2, source.Count);

        Task<TagSamples> reading = client.ReadAsync(tags, maxAge: 4 * Interval).AsTask();
        ControlledSource.Call asked = await source.NextAsync();
        asked.End.SetResult(TagStatus.Good);
        Assert.Equal(1, (await reading)[0].Value.Get<int>());
        next.End.SetResult(TagStatus.Good);
    }

    [Fact]
    public async Task A_read_that_does_not_end_is_given_up_and_the_next_one_follows()
    {
        var source = new ControlledSource();
        var listener = new Listener();
        await using var feed = new PolledTagFeed(source, Interval, listener, _clock);
        await feed.AddAsync([1], new TagStatus[1], CancellationToken.None);
        _clock.Advance(Interval);
        ControlledSource.Call stuck = await source.NextAsync();

        _clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(1, Assert.Single(await listener.Reports.Reader.ReadAsync(Patience.Token)));
        Assert.Equal(TagStatus.BadTimeout, listener.Last);

        ControlledSource.Call next = await source.NextAsync();
        stuck.End.SetResult(TagStatus.Good);
        next.End.SetResult(TagStatus.Good);
        Assert.Equal(1, Assert.Single(await listener.Reports.Reader.ReadAsync(Patience.Token)));
        Assert.Equal(TagStatus.Good, listener.Last);
    }

    [Fact]
    public async Task A_read_that_fails_while_its_feed_is_closed_is_nobodys()
    {
        var source = new ControlledSource();
        var feed = new PolledTagFeed(source, Interval, new Listener(), _clock);
        await feed.AddAsync([1], new TagStatus[1], CancellationToken.None);
        _clock.Advance(Interval);
        ControlledSource.Call read = await source.NextAsync();

        Task closing = feed.DisposeAsync().AsTask();
        read.End.SetException(new IOException("The test says so."));

        await closing.InTimeAsync();

        // The limit of the read is given back by the thread that has ended it.
        await Patience.UntilAsync(() => _clock.Timers == 0, "no timer is left");
    }

    [Fact]
    public async Task A_listener_that_throws_is_told_everything_again()
    {
        await using var memory = new MemoryTagSource(time: _clock);
        memory.Add("tag", 7);
        var listener = new Listener { Throws = true };
        await using var feed = new PolledTagFeed(memory, Interval, listener, _clock);
        await feed.AddAsync([0], new TagStatus[1], CancellationToken.None);

        Assert.Equal(0, Assert.Single(await NextAsync(listener)));
        Assert.Equal(0, Assert.Single(await NextAsync(listener)));
        Assert.Empty(await NextAsync(listener));
    }

    [Fact]
    public void An_interval_that_no_timer_has_is_refused_at_once() => Assert.Throws<ArgumentOutOfRangeException>(
        () => new PolledTagFeed(new ControlledSource(), TimeSpan.FromMicroseconds(999), new Listener(), _clock));

    private async Task<int[]> NextAsync(Listener listener)
    {
        _clock.Advance(Interval);
        return await listener.Reports.Reader.ReadAsync(Patience.Token);
    }

    private sealed class Listener : ITagFeedListener
    {
        public Channel<int[]> Reports { get; } = Channel.CreateUnbounded<int[]>();

        public bool Throws { get; set; }

        /// <summary>The status of the last change.</summary>
        public TagStatus Last { get; private set; }

        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
        {
            Last = samples.Count == 0 ? Last : samples.GetStatus(samples.Count - 1);
            Reports.Writer.TryWrite(tags.ToArray());
            if (Throws)
            {
                Throws = false;
                throw new InvalidOperationException("The test says so.");
            }
        }
    }
}
