using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

public sealed class LatencyHistogramTests
{
    public static TheoryData<string> Distributions =>
        new("uniform", "exponential", "log-normal", "bimodal", "constant", "single", "two", "every power", "whole range");

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Every_percentile_is_within_a_tenth_of_a_percent_of_the_sorted_samples(string distribution)
    {
        var values = Samples(distribution, seed: 11);
        var snapshot = Recorded(values).Snapshot();
        Array.Sort(values);

        for (var tenth = 0; tenth <= 1000; tenth++)
        {
            AssertClose(values[Rank(values.Length, tenth, 1000) - 1], snapshot.GetPercentile(tenth / 10.0));
        }

        AssertClose(values[Rank(values.Length, 9999, 10_000) - 1], snapshot.GetPercentile(99.99));
        AssertClose(values[Rank(values.Length, 99999, 100_000) - 1], snapshot.GetPercentile(99.999));
    }

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Count_sum_mean_and_extremes_are_exact(string distribution)
    {
        var values = Samples(distribution, seed: 12);
        var snapshot = Recorded(values).Snapshot();

        Assert.Equal(values.Length, snapshot.Count);
        Assert.Equal(values.Min(), snapshot.Min);
        Assert.Equal(values.Max(), snapshot.Max);
        Assert.Equal(values.Sum(), (long)snapshot.Sum);
        Assert.Equal(values.Average(), snapshot.Mean, tolerance: 1e-3);
        Assert.Equal(values.Length, snapshot.Buckets.Sum(bucket => bucket.Count));
    }

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Every_bucket_holds_exactly_the_samples_between_its_edges(string distribution)
    {
        var values = Samples(distribution, seed: 13);
        Array.Sort(values);

        foreach (var bucket in Recorded(values).Snapshot().Buckets)
        {
            Assert.Equal(CountUpTo(values, bucket.Highest) - CountUpTo(values, bucket.Lowest - 1), bucket.Count);
        }
    }

    [Theory]
    [MemberData(nameof(Distributions))]
    public void A_run_of_moments_counts_as_its_values_one_by_one(string distribution)
    {
        // Values outside of the range among them, and a moment before the origin.
        long[] steps = [
            0, -3, .. Samples(distribution, seed: 14)
                .Take(200), 99, 100, LatencyHistogram.HighestTrackable, LatencyHistogram.HighestTrackable + 1, 1];
        var moments = new long[steps.Length];
        var moment = 1_000L;
        for (var i = 0; i < steps.Length; i++)
        {
            moments[i] = moment += steps[i];
        }

        var since = new LatencyHistogram();
        since.RecordSince(1_000, moments);
        var between = new LatencyHistogram();
        between.RecordSteps(1_000, moments);
        between.RecordSteps(1_000, []);

        AssertSame(Recorded([.. moments.Select(static m => m - 1_000)]).Snapshot(), since.Snapshot());
        AssertSame(Recorded(steps).Snapshot(), between.Snapshot());
    }

    [Fact]
    public void Every_value_around_each_power_of_two_is_reported_within_a_tenth_of_a_percent()
    {
        for (var power = 128L; power < LatencyHistogram.HighestTrackable; power *= 2)
        {
            foreach (
                var value in new[] { power - 1, power, power + 1, power + (power / 512) - 1, power + (power / 512), power + (power / 3) })
            {
                // In the middle of three, where neither minimum nor maximum helps.
                var snapshot = Recorded([100, value, LatencyHistogram.HighestTrackable]).Snapshot();
                AssertClose(value, snapshot.P50);
            }
        }
    }

    [Fact]
    public void Values_out_of_range_are_clamped_and_counted_while_extremes_and_sum_stay_exact()
    {
        long[] values = [-5, 0, 99, 100, 5_000, 60_000_000_000, 60_000_000_001, 90_000_000_000];
        var snapshot = Recorded(values).Snapshot();

        Assert.Equal(8, snapshot.Count);
        Assert.Equal(3, snapshot.ClampedLow);
        Assert.Equal(2, snapshot.ClampedHigh);
        Assert.Equal(-5, snapshot.Min);
        Assert.Equal(90_000_000_000, snapshot.Max);
        Assert.Equal(values.Sum(), (long)snapshot.Sum);
        AssertClose(5_000, snapshot.GetPercentile(60));
        AssertClose(60_000_000_000, snapshot.GetPercentile(75));
    }

    [Theory]
    [InlineData(7L)]
    [InlineData(-40L)]
    [InlineData(70_000_000_000L)]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    public void Percentiles_of_one_value_out_of_range_are_that_value(long value)
    {
        var snapshot = Recorded([value, value, value]).Snapshot();

        Assert.Equal([value, value, value, value], [snapshot.GetPercentile(0), snapshot.P50, snapshot.P9999, snapshot.GetPercentile(100)]);
        Assert.Equal((Int128)value * 3, snapshot.Sum);
    }

    [Fact]
    public void No_percentile_lies_outside_minimum_and_maximum_or_falls_below_a_lower_one()
    {
        var random = new Random(5);
        for (var round = 0; round < 500; round++)
        {
            var values = new long[random.Next(1, 30)];
            for (var i = 0; i < values.Length; i++)
            {
                values[i] = (long)Math.Exp(random.NextDouble() * 30) - 10;
            }

            var snapshot = Recorded(values).Snapshot();
            var before = snapshot.Min;
            for (var percent = 0.0; percent <= 100; percent += 0.5)
            {
                var value = snapshot.GetPercentile(percent);
                Assert.InRange(value, before, snapshot.Max);
                before = value;
            }
        }
    }

    [Fact]
    public void Merging_equals_recording_everything_in_one()
    {
        var first = Samples("log-normal", seed: 1);
        var second = Samples("bimodal", seed: 2);
        long[] third = [1, 70_000_000_000];
        var merged = Recorded(first);
        merged.Merge(Recorded(second));
        merged.Merge(Recorded(third).Snapshot());
        merged.Merge(new LatencyHistogram());
        merged.Merge(LatencySnapshot.Empty);

        AssertSame(Recorded([.. first, .. second, .. third]).Snapshot(), merged.Snapshot());
    }

    [Fact]
    public void Merging_into_itself_is_refused()
    {
        var histogram = Recorded([100]);

        Assert.Throws<ArgumentException>(() => histogram.Merge(histogram));
    }

    [Fact]
    public void A_reset_histogram_is_as_good_as_new()
    {
        var histogram = Recorded([5, 100, 1_000_000, 90_000_000_000]);
        histogram.Reset();
        AssertSame(LatencySnapshot.Empty, histogram.Snapshot());

        histogram.Record(2_000);
        AssertSame(Recorded([2_000]).Snapshot(), histogram.Snapshot());
    }

    [Fact]
    public void A_snapshot_does_not_change_when_recording_goes_on()
    {
        var histogram = Recorded([1_000]);
        var snapshot = histogram.Snapshot();
        histogram.Record(9_000);

        Assert.Equal(1, snapshot.Count);
        Assert.Equal(1_000, snapshot.Max);
    }

    [Fact]
    public void Everything_of_an_empty_histogram_is_zero()
    {
        var snapshot = new LatencyHistogram().Snapshot();

        Assert.Equal(default, snapshot.Summarize());
        Assert.Equal(0, snapshot.GetPercentile(37));
        Assert.Empty(snapshot.Buckets);
    }

    [Theory]
    [InlineData(-0.1)]
    [InlineData(100.1)]
    [InlineData(double.NaN)]
    public void A_percentile_out_of_range_is_refused(double percent)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => LatencySnapshot.Empty.GetPercentile(percent));
    }

    [Fact]
    public void The_rank_of_a_percentile_has_no_rounding_error_of_binary_fractions()
    {
        Assert.Equal(999, LatencySnapshot.Rank(99.9, 1_000));
        Assert.Equal(9_999, LatencySnapshot.Rank(99.99, 10_000));
        Assert.Equal(7, LatencySnapshot.Rank(0.7, 1_000));
        Assert.Equal(29, LatencySnapshot.Rank(29, 100));
    }

    [Fact]
    public void Count_arrays_grow_with_the_powers_of_two_met()
    {
        var histogram = new LatencyHistogram();
        Assert.Equal(0, histogram.AllocatedBytes);

        histogram.Record(50_000);
        histogram.Record(60_000);
        Assert.Equal(4096, histogram.AllocatedBytes);

        for (var value = 100L; value < LatencyHistogram.HighestTrackable; value *= 2)
        {
            histogram.Record(value);
        }

        histogram.Record(LatencyHistogram.HighestTrackable);
        Assert.Equal(28 * 4096, histogram.AllocatedBytes);
    }

    [Fact]
    public void Recording_allocates_nothing_once_warm()
    {
        var values = Samples("log-normal", seed: 3);
        var histogram = Recorded(values);

        Assert.Equal(0, Allocations.LeastOf(() =>
        {
            foreach (var value in values)
            {
                histogram.Record(value);
            }
        }));
    }

    internal static long[] Samples(string distribution, int seed)
    {
        var random = new Random(seed);
        Func<int, long> next = distribution switch
        {
            "uniform" => _ => random.NextInt64(20_000, 2_000_000),
            "exponential" => _ => 10_000 + (long)(-Math.Log(1 - random.NextDouble()) * 80_000),
            "log-normal" => _ => (long)Math.Exp(11 + (1.2 * Gaussian(random))),
            "bimodal" => _ => random.Next(10) < 7 ? random.NextInt64(30_000, 40_000) : random.NextInt64(60_000_000, 62_000_000),
            "constant" => _ => 51_239,
            "single" or "two" => i => 1_234_567 + (i * 7_000_001),
            "every power" => i => 100 + (1L << (i % 35)),
            "whole range" => _ => (long)Math.Exp(Math.Log(100) + (random.NextDouble() * Math.Log(6e8))),
            _ => throw new ArgumentOutOfRangeException(nameof(distribution), distribution, "unknown"),
        };
        var count = distribution switch
        {
            "single" => 1,
            "two" => 2,
            _ => 20_011,
        };
        return [.. Enumerable.Range(0, count).Select(i => Math.Clamp(next(i), 100, 60_000_000_000))];
    }

    internal static void AssertSame(LatencySnapshot expected, LatencySnapshot actual)
    {
        Assert.Equal(expected.Buckets, actual.Buckets);
        Assert.Equal(expected.Sum, actual.Sum);
        Assert.Equal(expected.Summarize(), actual.Summarize());
    }

    private static LatencyHistogram Recorded(long[] values)
    {
        var histogram = new LatencyHistogram();
        foreach (var value in values)
        {
            histogram.Record(value);
        }

        return histogram;
    }

    private static double Gaussian(Random random) =>
        Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble());

    private static int Rank(long count, long part, long whole) => (int)Math.Max(1, ((part * count) + whole - 1) / whole);

    private static int CountUpTo(long[] sorted, long value)
    {
        var count = 0;
        while (count < sorted.Length && sorted[count] <= value)
        {
            count++;
        }

        return count;
    }

    private static void AssertClose(long exact, long reported) => Assert.InRange(reported, exact * 0.999, exact * 1.001);
}
