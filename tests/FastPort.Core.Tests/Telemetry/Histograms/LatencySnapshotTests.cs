using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

public sealed class LatencySnapshotTests
{
    [Fact]
    public void The_difference_of_two_snapshots_is_what_was_recorded_in_between()
    {
        var random = new Random(3);
        var histogram = new LatencyHistogram();
        var alone = new LatencyHistogram();
        for (var i = 0; i < 5_000; i++)
        {
            histogram.Record(random.NextInt64(1_000, 90_000_000));
        }

        var earlier = histogram.Snapshot();
        for (var i = 0; i < 5_000; i++)
        {
            var value = random.NextInt64(50_000, 60_000_000);
            histogram.Record(value);
            alone.Record(value);
        }

        var between = histogram.Snapshot().Since(earlier);
        var expected = alone.Snapshot();

        Assert.Equal(expected.Buckets, between.Buckets);
        Assert.Equal(expected.Sum, between.Sum);
        Assert.Equal(expected.P50, between.P50);
        Assert.InRange(between.Min, expected.Min * 0.998, expected.Min);
        Assert.InRange(between.Max, expected.Max, expected.Max * 1.002);
    }

    [Fact]
    public void Clamped_values_in_between_are_told_apart_from_earlier_ones()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(5);
        histogram.Record(70_000_000_000);
        var earlier = histogram.Snapshot();
        histogram.Record(6);
        histogram.Record(1_000);

        var between = histogram.Snapshot().Since(earlier);

        Assert.Equal(2, between.Count);
        Assert.Equal(1, between.ClampedLow);
        Assert.Equal(0, between.ClampedHigh);
        Assert.Equal(1_006, (long)between.Sum);
        Assert.InRange(between.Max, 1_000, 1_001);
    }

    [Fact]
    public void Nothing_in_between_is_empty()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(4_000);
        var snapshot = histogram.Snapshot();

        Assert.Equal(0, histogram.Snapshot().Since(snapshot).Count);
    }

    [Fact]
    public void After_a_reset_the_difference_is_everything_since_the_reset()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(4_000);
        histogram.Record(9_000_000);
        var earlier = histogram.Snapshot();
        histogram.Reset();
        histogram.Record(4_000);

        var between = histogram.Snapshot().Since(earlier);

        Assert.Equal(1, between.Count);
        Assert.Equal(4_000, between.Max);
    }
}
