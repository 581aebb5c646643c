namespace FastPort.Benchmarks.Histograms;

/// <summary>Latencies as a server has them: most near 50 us, a tail to tens of milliseconds. The same ones in every run.</summary>
internal static class LatencyValues
{
    /// <param name="count">How many.</param>
    /// <returns>Values in nanoseconds.</returns>
    public static long[] Make(int count)
    {
        var random = new Random(20261121);
        long[] values = new long[count];
        for (int i = 0; i < values.Length; i++)
        {
            // Log-normal by Box and Muller.
            double normal = Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble());
            values[i] = (long)(50_000 * Math.Exp(normal));
        }

        return values;
    }
}
