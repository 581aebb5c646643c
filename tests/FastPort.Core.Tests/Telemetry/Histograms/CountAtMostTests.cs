using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Histograms;

public sealed class CountAtMostTests
{
    [Fact]
    public void Counts_up_to_a_bucket_s_end_are_exact()
    {
        var random = new Random(7);
        long[] values = [.. Enumerable.Range(0, 20_000).Select(_ => (long)Math.Exp(random.NextDouble() * 20) + 100)];
        var histogram = new LatencyHistogram();
        Array.ForEach(values, histogram.Record);
        LatencySnapshot snapshot = histogram.Snapshot();

        // Every power of two is divided into 512 buckets.
        for (int power = 7; power < 33; power++)
        {
            foreach (int part in (int[])[512, 609, 724, 861])
            {
                long bound = ((1L << power) * part / 512) - 1;
                Assert.Equal(values.LongCount(value => value <= bound), snapshot.CountAtMost(bound));
            }
        }

        Assert.Equal(0, snapshot.CountAtMost(50));
        Assert.Equal(values.Length, snapshot.CountAtMost(long.MaxValue));
        Assert.Equal(0, LatencySnapshot.Empty.CountAtMost(long.MaxValue));
    }
}
