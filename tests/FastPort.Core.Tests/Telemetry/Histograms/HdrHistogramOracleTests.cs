using FastPort.Telemetry;
using HdrHistogram;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

/// <summary>Our histogram beside HdrHistogram's with the same values: percentiles, merged ones, counts.</summary>
public sealed class HdrHistogramOracleTests
{
    private const int SignificantDigits = 3;

    public static TheoryData<string> Distributions => LatencyHistogramTests.Distributions;

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Percentiles_agree_within_the_precision_of_both(string distribution)
    {
        var (ours, oracle) = Recorded(Values(distribution, seed: 21));

        AssertPercentiles(oracle, ours.Snapshot());
    }

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Percentiles_of_merged_ones_agree(string distribution)
    {
        var (ours, oracle) = Recorded(Values(distribution, seed: 22));
        var (others, othersOracle) = Recorded(Values("whole range", seed: 23));
        ours.Merge(others);
        oracle.Add(othersOracle);

        AssertPercentiles(oracle, ours.Snapshot());
        AssertPercentiles(oracle, Merged(ours.Snapshot()));
    }

    [Theory]
    [MemberData(nameof(Distributions))]
    public void Every_bucket_counts_what_the_oracle_counts_between_its_edges(string distribution)
    {
        var (ours, oracle) = Recorded(Values(distribution, seed: 24));
        var counted = oracle.RecordedValues().Select(static step => (step.ValueIteratedTo, step.CountAtValueIteratedTo)).ToArray();

        foreach (var bucket in ours.Snapshot().Buckets)
        {
            var within = counted.Where(step => step.ValueIteratedTo >= bucket.Lowest && step.ValueIteratedTo <= bucket.Highest);
            Assert.Equal(within.Sum(static step => step.CountAtValueIteratedTo), bucket.Count);
        }

        Assert.Equal(oracle.TotalCount, ours.Count);
    }

    // The oracle rounds a rank where ours is rounded up: only percentiles of a whole rank are compared.
    internal static void AssertPercentiles(HistogramBase oracle, LatencySnapshot ours)
    {
        Assert.Equal(oracle.TotalCount, ours.Count);
        for (var tenth = 1; tenth <= 1000; tenth++)
        {
            if (ours.Count * tenth % 1000 == 0)
            {
                var expected = oracle.GetValueAtPercentile(tenth / 10.0);
                var (lowest, highest) = (oracle.LowestEquivalentValue(expected), oracle.HighestEquivalentValue(expected));
                Assert.InRange(ours.GetPercentile(tenth / 10.0), lowest * 0.999, highest * 1.001);
            }
        }
    }

    // A whole number of thousandths, where there are so many.
    private static long[] Values(string distribution, int seed)
    {
        var values = LatencyHistogramTests.Samples(distribution, seed);
        return values.Length > 20_000 ? values[..20_000] : values;
    }

    private static (LatencyHistogram Ours, HistogramBase Oracle) Recorded(long[] values)
    {
        var ours = new LatencyHistogram();
        var oracle = new LongHistogram(LatencyHistogram.HighestTrackable, SignificantDigits);
        foreach (var value in values)
        {
            ours.Record(value);
            oracle.RecordValue(value);
        }

        return (ours, oracle);
    }

    private static LatencySnapshot Merged(LatencySnapshot snapshot)
    {
        var merged = new LatencyHistogram();
        merged.Merge(snapshot);
        return merged.Snapshot();
    }
}
