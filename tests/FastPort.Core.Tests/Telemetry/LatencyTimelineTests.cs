using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed class LatencyTimelineTests
{
    private readonly LatencyTimeline _timeline = new();
    private readonly LatencyHistogram _all = new();
    private TimeSpan _now;
    private long _errors;

    private IReadOnlyList<LatencyColumn> Columns => _timeline.Read(_now, _all.Snapshot(), _errors);

    [Fact]
    public void A_column_has_what_came_since_the_one_before()
    {
        Second(10_000, 30_000);
        Second(50_000);
        _errors = 2;
        Second();

        IReadOnlyList<LatencyColumn> columns = Columns;
        Assert.Equal([0, 1, 2], columns.Select(static column => column.Start.TotalSeconds));
        Assert.Equal([1, 1, 1], columns.Select(static column => column.Length.TotalSeconds));
        Assert.Equal([2, 1, 0], columns.Select(static column => column.Latencies.Count));
        Assert.Equal([0, 0, 2], columns.Select(static column => column.Errors));
        Assert.Equal(50_000, columns[1].Latencies.P99, tolerance: 400.0);
    }

    [Fact]
    public void What_has_not_been_sampled_yet_is_a_column_of_its_own_unless_it_is_short()
    {
        Second(10_000);
        _now += TimeSpan.FromMilliseconds(100);
        _all.Record(20_000);
        LatencyColumn only = Assert.Single(Columns);
        Assert.Equal((2, 1.1), (only.Latencies.Count, only.Length.TotalSeconds));

        _now += TimeSpan.FromMilliseconds(400);
        Assert.Equal([1, 1], Columns.Select(static column => column.Latencies.Count));
    }

    [Fact]
    public void A_first_sample_that_comes_at_once_is_a_part_of_the_second()
    {
        _all.Record(10_000);
        _now += TimeSpan.FromMilliseconds(2);
        _timeline.Sample(_now, _all.Snapshot(), _errors);
        _now += TimeSpan.FromMilliseconds(400);
        Assert.Equal((TimeSpan.Zero, _now), (Assert.Single(Columns).Start, Columns[0].Length));

        _now += TimeSpan.FromMilliseconds(598);
        _all.Record(20_000);
        _timeline.Sample(_now, _all.Snapshot(), _errors);
        Second(30_000);

        Assert.Equal([0, 1], Columns.Select(static column => column.Start.TotalSeconds));
        Assert.Equal([2, 1], Columns.Select(static column => column.Latencies.Count));
    }

    [Theory]
    [InlineData(600, 600, 1)]
    [InlineData(601, 301, 2)]
    [InlineData(1200, 600, 2)]
    [InlineData(1203, 301, 4)]
    [InlineData(5000, 313, 16)]
    public void Full_columns_are_merged_in_pairs_and_nothing_is_lost(int seconds, int columns, int length)
    {
        for (int second = 0; second < seconds; second++)
        {
            Second(1000 + second, 70_000);
        }

        IReadOnlyList<LatencyColumn> read = Columns;
        Assert.Equal(columns, read.Count);
        Assert.Equal(length, read[0].Length.TotalSeconds);
        Assert.Equal(2 * seconds, read.Sum(static column => column.Latencies.Count));
        Assert.Equal(seconds, read.Sum(static column => column.Length.TotalSeconds));
        Assert.All(read.Zip(read.Skip(1)), static pair => Assert.Equal(pair.First.Start + pair.First.Length, pair.Second.Start));
        Assert.All(read, static column => Assert.Equal(2 * column.Length.TotalSeconds, column.Latencies.Count));
    }

    [Fact]
    public void A_new_measurement_begins_with_no_column()
    {
        var clock = new FakeClock();
        var stats = new LatencyStats(LatencyRole.Client, time: clock);
        stats.ForType(1).RecordRoundTrip(1000, 500);
        clock.Advance(TimeSpan.FromSeconds(1));
        stats.SampleTimeline();
        stats.StartMeasuring();
        clock.Advance(TimeSpan.FromSeconds(1));
        stats.ForType(1).RecordRoundTrip(2000, 500);

        LatencyColumn column = Assert.Single(stats.Read().Timeline);
        Assert.Equal((1, TimeSpan.Zero), (column.Latencies.Count, column.Start));
        Assert.Empty(stats.ReadTotals().Timeline);
    }

    // A second with these latencies, in nanoseconds.
    private void Second(params ReadOnlySpan<long> latencies)
    {
        foreach (long latency in latencies)
        {
            _all.Record(latency);
        }

        _now += TimeSpan.FromSeconds(1);
        _timeline.Sample(_now, _all.Snapshot(), _errors);
    }
}
