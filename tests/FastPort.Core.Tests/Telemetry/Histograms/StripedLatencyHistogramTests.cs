using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

public sealed class StripedLatencyHistogramTests
{
    private const int Writers = 6;
    private const int PerWriter = 400_000;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(5)]
    public async Task Concurrent_recording_loses_nothing_while_intervals_are_cut(int stripes)
    {
        var striped = new StripedLatencyHistogram(stripes);
        using var start = new Barrier(Writers + 1);
        var writers = Enumerable.Range(0, Writers).Select(writer => Task.Factory.StartNew(
            () =>
            {
                start.SignalAndWait();
                for (var i = 0; i < PerWriter; i++)
                {
                    striped.Record(Value(writer, i));
                }
            },
            TaskCreationOptions.LongRunning)).ToArray();
        var all = Task.WhenAll(writers);
        var intervals = new LatencyHistogram();
        start.SignalAndWait();
        while (!all.IsCompleted)
        {
            intervals.Merge(striped.CutInterval());
            Thread.Yield();
        }

        await all;
        intervals.Merge(striped.CutInterval());

        var expected = new LatencyHistogram();
        for (var writer = 0; writer < Writers; writer++)
        {
            for (var i = 0; i < PerWriter; i++)
            {
                expected.Record(Value(writer, i));
            }
        }

        LatencyHistogramTests.AssertSame(expected.Snapshot(), striped.Snapshot());
        LatencyHistogramTests.AssertSame(expected.Snapshot(), intervals.Snapshot());
    }

    [Fact]
    public void An_interval_begins_where_the_one_before_ended_and_life_goes_on()
    {
        var striped = new StripedLatencyHistogram();
        striped.Record(1_000);
        striped.Record(3_000);
        var first = striped.CutInterval();
        striped.Record(2_000);
        var lifetime = striped.Snapshot();
        var second = striped.CutInterval();

        Assert.Equal((2, 1_000, 3_000), (first.Count, first.Min, first.Max));
        Assert.Equal((1, 2_000, 2_000), (second.Count, second.Min, second.Max));
        Assert.Equal((3, 1_000, 3_000), (lifetime.Count, lifetime.Min, lifetime.Max));
        Assert.Equal(0, striped.CutInterval().Count);
    }

    [Fact]
    public void Reset_forgets_interval_and_lifetime()
    {
        var striped = new StripedLatencyHistogram();
        striped.Record(1_000);
        striped.CutInterval();
        striped.Record(1_000);
        striped.Reset();

        Assert.Equal(0, striped.Snapshot().Count);
        Assert.Equal(0, striped.CutInterval().Count);
    }

    [Fact]
    public void Merging_a_histogram_equals_recording_its_values()
    {
        var other = new LatencyHistogram();
        other.Record(50);
        other.Record(7_000);
        var merged = new StripedLatencyHistogram();
        merged.Record(9_000);
        merged.Merge(other);

        var snapshot = merged.Snapshot();

        Assert.Equal((3, 50, 9_000, 1), (snapshot.Count, snapshot.Min, snapshot.Max, snapshot.ClampedLow));
    }

    [Fact]
    public void Recording_allocates_nothing_once_warm()
    {
        // One stripe: a thread that moves between processors would warm up a second one.
        var striped = new StripedLatencyHistogram(stripes: 1);
        striped.Record(50_000);
        striped.Snapshot();
        striped.Record(50_000);

        Assert.Equal(0, Allocations.LeastOf(() =>
        {
            for (var i = 0; i < 100_000; i++)
            {
                striped.Record(40_000 + (i % 20_000));
            }
        }));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(65)]
    public void A_number_of_stripes_out_of_range_is_refused(int stripes)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new StripedLatencyHistogram(stripes));
    }

    private static long Value(int writer, int i) => 50 + ((long)i * 7_919 * (writer + 1) % 3_000_000);
}
