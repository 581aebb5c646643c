using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

/// <summary>
/// What one reading of the clock a message comes to: each handler begins where the one before it ended, and all were received at once.
/// </summary>
public sealed class HandledBurstTests
{
    private const long Received = 1_000_000;
    private const long Began = 1_000_700;

    private readonly LatencyStats _stats = new(LatencyRole.Server, maxSamplesInMemory: 1000);

    [Fact]
    public void Messages_of_several_types_have_their_own_times_in_their_order()
    {
        LatencySeries session = _stats.ForSession(9);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session);
        burst.Add(_stats.ForType(1), Began + 200);
        burst.Add(_stats.ForType(1), Began + 500);
        burst.Add(_stats.ForType(2), Began + 4_500);
        burst.Add(_stats.ForType(1), Began + 4_650);
        burst.End();

        AssertSums(
            _stats.ForType(1), 3, whole: (3 * 700) + 200 + 500 + 4_650, queue: (3 * 700) + 0 + 200 + 4_500, handler: 200 + 300 + 150);
        AssertSums(_stats.ForType(2), 1, whole: 5_200, queue: 1_200, handler: 4_000);
        AssertSums(session, 4, whole: (4 * 700) + 200 + 500 + 4_500 + 4_650, queue: (4 * 700) + 0 + 200 + 500 + 4_500, handler: 4_650);
        Assert.Equal(
            [Sample(1, 900, 700, 200), Sample(1, 1_200, 900, 300), Sample(2, 5_200, 1_200, 4_000), Sample(1, 5_350, 5_200, 150)],
            _stats.RecentSamples.ToArray());
    }

    // More than are collected at a time, and than samples are moved at a time.
    [Theory]
    [InlineData(1)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(33)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(200)]
    public void None_is_lost_or_shifted_however_many_there_are(int messages)
    {
        LatencySeries series = _stats.ForType(3);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);
        for (int i = 1; i <= messages; i++)
        {
            burst.Add(series, Began + (100 * i));
        }

        burst.End();

        LatencySample[] expected = [.. Enumerable.Range(1, messages).Select(static i => Sample(3, 700 + (100 * i), 600 + (100 * i), 100))];
        Assert.Equal(expected, _stats.RecentSamples.ToArray());
        AssertSums(series, messages, expected.Sum(static s => s.Whole), expected.Sum(static s => s.FirstPart), messages * 100);
    }

    [Fact]
    public void Short_handlers_in_a_row_share_a_reading_and_have_equal_parts_of_the_time_before_it()
    {
        LatencySeries series = _stats.ForType(5);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);

        // Nothing is known yet of how long it takes.
        Assert.False(burst.TryAdd(series));
        burst.Add(series, Began + 100);
        for (int i = 1; i < HandledBurst.SharedReading; i++)
        {
            Assert.True(burst.TryAdd(series));
        }

        Assert.False(burst.TryAdd(series));
        burst.Add(series, Began + 100 + (40 * HandledBurst.SharedReading));
        burst.End();

        Assert.Equal(
            [100, .. Enumerable.Repeat(40L, HandledBurst.SharedReading)], _stats.RecentSamples.ToArray().Select(static s => s.SecondPart));
        Assert.Equal(700 + 100 + 320, _stats.RecentSamples.ToArray()[^1].Whole);
    }

    [Fact]
    public void A_slow_handler_among_short_ones_is_seen_and_the_next_has_a_reading_of_its_own()
    {
        LatencySeries series = _stats.ForType(6);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);
        burst.Add(series, Began + 100);
        Assert.True(burst.TryAdd(series));
        Assert.True(burst.TryAdd(series));
        burst.Add(series, Began + 100 + 5_000_000);
        Assert.False(burst.TryAdd(series));
        burst.Add(series, Began + 100 + 5_000_000 + 60);
        Assert.True(burst.TryAdd(series));
        burst.Add(series, Began + 100 + 5_000_000 + 180);
        burst.End();

        const long Short = HandledBurst.ShortNanoseconds;
        Assert.Equal(
            [100, Short, Short, 5_000_000 - (2 * Short), 60, 60, 60],
            _stats.RecentSamples.ToArray().Select(static s => s.SecondPart));
    }

    [Fact]
    public void Another_type_has_a_reading_and_what_a_burst_ends_with_is_not_lost()
    {
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);
        burst.Add(_stats.ForType(7), Began + 100);
        Assert.True(burst.TryAdd(_stats.ForType(7)));
        Assert.False(burst.TryAdd(_stats.ForType(8)));
        burst.Add(_stats.ForType(8), Began + 220);
        Assert.True(burst.TryAdd(_stats.ForType(8)));
        burst.End();

        Assert.Equal([7, 7, 8, 8], _stats.RecentSamples.ToArray().Select(static s => (int)s.MessageType));
        Assert.Equal([100, 60, 60], _stats.RecentSamples.ToArray().Take(3).Select(static s => s.SecondPart));
    }

    [Fact]
    public void Other_work_between_two_messages_is_no_time_of_either_but_the_second_one_has_waited_for_it()
    {
        const int Other = 5_000_000;
        LatencySeries series = _stats.ForType(10);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);
        burst.Add(series, Began + 100);
        Assert.True(burst.TryAdd(series));
        burst.Interrupt(Began + 180);
        burst.Resume(Began + 180 + Other);
        Assert.True(burst.TryAdd(series));
        burst.Add(series, Began + 180 + Other + 120);
        burst.Interrupt(Began + 180 + Other + 400);
        burst.Resume(Began + 180 + (2 * Other));
        burst.Add(_stats.ForType(11), Began + 180 + (2 * Other) + 30);
        burst.End();

        Assert.Equal(
            [
                Sample(10, 800, 700, 100),
                Sample(10, 880, 800, 80),
                Sample(10, 940 + Other, 880 + Other, 60),
                Sample(10, 1_000 + Other, 940 + Other, 60),
                Sample(11, 910 + (2 * Other), 880 + (2 * Other), 30),
            ],
            _stats.RecentSamples.ToArray());
    }

    // As many as are collected at a time, in whatever way.
    [Theory]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(300)]
    public void None_that_shares_a_reading_is_lost_however_many_there_are(int messages)
    {
        LatencySeries series = _stats.ForType(9);
        HandledBurst burst = HandledBurst.Begin(Received, Began, session: null);
        for (int i = 1; i <= messages; i++)
        {
            if (i == messages || !burst.TryAdd(series))
            {
                burst.Add(series, Began + (50 * i));
            }
        }

        burst.End();

        Assert.Equal(Enumerable.Repeat(50L, messages), _stats.RecentSamples.ToArray().Select(static s => s.SecondPart));
    }

    [Fact]
    public void A_burst_begins_anew_whatever_the_one_before_it_was()
    {
        LatencySeries series = _stats.ForType(4);
        HandledBurst.Begin(Received, Began, session: null).End();
        for (int i = 0; i < 2; i++)
        {
            HandledBurst burst = HandledBurst.Begin(Received + (i * 1_000_000), Began + (i * 1_000_000), session: null);
            burst.Add(series, Began + (i * 1_000_000) + 250);
            burst.End();
        }

        AssertSums(series, 2, whole: 2 * 950, queue: 2 * 700, handler: 2 * 250);
    }

    // Timestamps here are nanoseconds where the clock's are; elsewhere they follow from the same reading.
    private static LatencySample Sample(ushort type, long whole, long queue, long handler) =>
        new(MonotonicClock.ToTimestamp(Received + whole), type, whole, queue, handler);

    private static void AssertSums(LatencySeries series, int count, long whole, long queue, long handler)
    {
        LatencySnapshot[] metrics = [.. series.Report(cut: false, now: 0).Metrics.Select(static m => m.Lifetime)];
        Assert.Equal([count, count, count], metrics.Select(static m => m.Count));
        Assert.Equal([whole, queue, handler], metrics.Select(static m => (long)m.Sum));
    }
}
