using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

/// <summary>The histograms of sessions: an eighth of the memory, percentiles within 1 % or 4 ns.</summary>
public sealed class CoarseHistogramTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Percentiles_are_within_one_percent_or_four_nanoseconds(int seed)
    {
        var random = new Random(seed);
        long[] values = [.. Enumerable.Range(0, 5_000).Select(_ => (long)Math.Pow(10, 2 + (random.NextDouble() * 8.7)))];
        LatencySnapshot snapshot = Recorded(values).Snapshot();
        Array.Sort(values);

        for (double percent = 0.5; percent <= 99.5; percent += 0.5)
        {
            long exact = values[LatencySnapshot.Rank(percent, values.Length) - 1];
            Assert.InRange(Math.Abs(snapshot.GetPercentile(percent) - exact), 0, Math.Max(4, exact * 0.0079));
        }

        Assert.Equal((values[0], values[^1], values.Length), (snapshot.Min, snapshot.Max, snapshot.Count));
        Assert.Equal(values.Average(), snapshot.Mean, 1e-3 * values.Average());
    }

    [Fact]
    public void Every_value_lies_in_the_bucket_that_it_is_told_in()
    {
        for (long value = 100; value < 60_000_000_000; value = (value * 5 / 4) + 1)
        {
            var bucket = Assert.Single(Recorded(value, value).Snapshot().Buckets);

            Assert.InRange(value, bucket.Lowest, bucket.Highest);
            Assert.Equal(2, bucket.Count);
        }
    }

    [Fact]
    public void Costs_an_eighth_of_the_memory()
    {
        var fine = new LatencyHistogram();
        fine.Record(50_000);

        Assert.Equal(fine.AllocatedBytes / 8, Recorded(50_000).AllocatedBytes);
    }

    [Fact]
    public void What_came_since_an_earlier_snapshot_is_told_apart()
    {
        LatencyHistogram histogram = Recorded(1_000, 2_000, 3_000_000);
        LatencySnapshot earlier = histogram.Snapshot();
        histogram.Record(2_000);
        histogram.Record(4_000_000);

        LatencySnapshot since = histogram.Snapshot().Since(earlier);

        Assert.Equal(2, since.Count);
        Assert.InRange(since.Min, 1_984, 2_000);
        Assert.Equal(4_000_000, since.Max);
    }

    [Fact]
    public void Is_merged_with_its_like_and_into_a_fine_one_as_a_snapshot()
    {
        LatencyHistogram sum = Recorded(1_000, 50_000);
        sum.Merge(Recorded(70_000));
        var fine = new LatencyHistogram();
        fine.Merge(sum.Snapshot());

        foreach (LatencySnapshot snapshot in (LatencySnapshot[])[sum.Snapshot(), fine.Snapshot()])
        {
            Assert.Equal((3, 1_000, 70_000, (Int128)121_000), (snapshot.Count, snapshot.Min, snapshot.Max, snapshot.Sum));
            Assert.InRange(snapshot.P50, 49_600, 50_400);
        }
    }

    [Fact]
    public void Sessions_are_kept_coarse_and_types_fine()
    {
        var stats = new LatencyStats(LatencyRole.Client);
        foreach (long value in (long[])[1_000_000, 1_003_000, 2_000_000])
        {
            stats.ForType(1).RecordRoundTrip(value);
            stats.ForSession(1).RecordRoundTrip(value);
        }

        LatencyReport report = stats.Read();

        Assert.Equal(3, report.Types[0].Metrics[0].Lifetime.Buckets.Count());
        Assert.Equal(2, report.Sessions[0].Metrics[0].Lifetime.Buckets.Count());
    }

    private static LatencyHistogram Recorded(params long[] values)
    {
        var histogram = new LatencyHistogram(LatencyBuckets.Coarse);
        foreach (long value in values)
        {
            histogram.Record(value);
        }

        return histogram;
    }
}
