namespace FastPort.Telemetry;

/// <summary>The contents of a histogram at one moment. Immutable, so thread-safe. All values are nanoseconds.</summary>
/// <remarks>Holds 12 bytes per filled bucket.</remarks>
public sealed class LatencySnapshot
{
    private readonly int[] _buckets;
    private readonly long[] _cumulative;

    internal LatencySnapshot(
        int[] buckets, long[] cumulative, int coarseness, Int128 sum, long min, long max, long clampedLow, long clampedHigh)
    {
        Coarseness = coarseness;
        _buckets = buckets;
        _cumulative = cumulative;
        Count = cumulative.Length == 0 ? 0 : cumulative[^1];
        Sum = sum;
        Min = min;
        Max = max;
        ClampedLow = clampedLow;
        ClampedHigh = clampedHigh;
    }

    /// <summary>The empty snapshot: every figure is 0.</summary>
    public static LatencySnapshot Empty { get; } = new([], [], 0, 0, 0, 0, 0, 0);

    /// <summary>Number of values, clamped ones included.</summary>
    public long Count { get; }

    /// <summary>Sum of all values, exact.</summary>
    public Int128 Sum { get; }

    /// <summary>Smallest value, exact; 0 when empty.</summary>
    public long Min { get; }

    /// <summary>Largest value, exact; 0 when empty.</summary>
    public long Max { get; }

    /// <summary>Arithmetic mean, from the exact sum; 0 when empty.</summary>
    public double Mean => Count == 0 ? 0 : (double)Sum / Count;

    /// <summary>Values below 100 ns, counted as 100 ns.</summary>
    internal long ClampedLow { get; }

    /// <summary>Values above 60 s, counted as 60 s.</summary>
    internal long ClampedHigh { get; }

    /// <summary>50 % of the values are at most this.</summary>
    public long P50 => GetPercentile(50);

    /// <summary>90 % of the values are at most this.</summary>
    public long P90 => GetPercentile(90);

    /// <summary>95 % of the values are at most this.</summary>
    public long P95 => GetPercentile(95);

    /// <summary>99 % of the values are at most this.</summary>
    public long P99 => GetPercentile(99);

    /// <summary>99.9 % of the values are at most this; meaningful above 10,000 values.</summary>
    public long P999 => GetPercentile(99.9);

    /// <summary>99.99 % of the values are at most this; meaningful above 100,000 values.</summary>
    public long P9999 => GetPercentile(99.99);

    /// <summary>
    /// The filled buckets, lowest first, for plots and exports: their lowest and highest value in nanoseconds, both inclusive.
    /// </summary>
    public IEnumerable<(long Lowest, long Highest, long Count)> Buckets
    {
        get
        {
            foreach (var (bucket, count) in NumberedCounts())
            {
                yield return (LatencyBuckets.LowEdge(bucket), LatencyBuckets.HighEdge(bucket, Coarseness), count);
            }
        }
    }

    /// <summary>
    /// The smallest recorded value v such that at least ceil(percent / 100 * count) values are at most v, within 0.1 % (1 % for the
    /// latencies of one session); exact for 0 (the minimum) and 100 (the maximum), and never outside [<see cref="Min"/>,
    /// <see cref="Max"/>].
    /// </summary>
    /// <param name="percent">0 to 100.</param>
    /// <returns>Nanoseconds; 0 when empty.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="percent"/> is not within 0 to 100.</exception>
    public long GetPercentile(double percent)
    {
        var rank = Rank(percent, Count);
        if (Count == 0)
        {
            return 0;
        }

        if (rank == 1)
        {
            return Min;
        }

        if (rank == Count)
        {
            return Max;
        }

        var found = Array.BinarySearch(_cumulative, rank);
        var middle = LatencyBuckets.Middle(_buckets[found >= 0 ? found : ~found], Coarseness);
        return Math.Clamp(middle, Min, Max);
    }

    /// <summary>
    /// How many values are at most this, for cumulative histograms with the caller's bounds. Values of the bucket that the bound lies in
    /// are left out: none if the bound is 1 below a power of two, divided by up to 512, else up to 0.2 % of the bound.
    /// </summary>
    /// <param name="nanoseconds">The bound, inclusive.</param>
    public long CountAtMost(long nanoseconds)
    {
        // The first bucket that ends above the bound.
        int first = 0;
        int end = _buckets.Length;
        while (first < end)
        {
            int middle = (first + end) >>> 1;
            if (LatencyBuckets.HighEdge(_buckets[middle], Coarseness) <= nanoseconds)
            {
                first = middle + 1;
            }
            else
            {
                end = middle;
            }
        }

        return first == 0 ? 0 : _cumulative[first - 1];
    }

    /// <summary>
    /// The values recorded after an earlier snapshot of the same histogram: the interval of a reader that does not cut intervals. Count,
    /// mean and percentiles keep their accuracy; <see cref="Min"/> and <see cref="Max"/> are within 0.1 %, because a bucket does not
    /// distinguish earlier values from later ones. If the histogram was reset in between, returns all values since the reset.
    /// </summary>
    /// <param name="earlier">A snapshot taken before this one.</param>
    public LatencySnapshot Since(LatencySnapshot earlier)
    {
        ArgumentNullException.ThrowIfNull(earlier);
        if (earlier.Count == 0)
        {
            return this;
        }

        var buckets = new List<int>(_buckets.Length);
        var cumulative = new List<long>(_buckets.Length);
        var running = 0L;
        var old = 0;
        foreach (var (bucket, count) in NumberedCounts())
        {
            var left = count;
            if (old < earlier._buckets.Length && earlier._buckets[old] == bucket)
            {
                left -= earlier.CountAt(old++);
            }

            if (left < 0)
            {
                return this;
            }

            if (left > 0)
            {
                running += left;
                buckets.Add(bucket);
                cumulative.Add(running);
            }
        }

        // Counts only grow: a bucket that had values before and is empty now means that the histogram was reset.
        if (old < earlier._buckets.Length)
        {
            return this;
        }

        if (running == 0)
        {
            return Empty;
        }

        // A clamped value can lie outside its bucket, so the outermost buckets use the exact extremes.
        var low = ClampedLow > earlier.ClampedLow ? Min : Math.Max(Min, LatencyBuckets.LowEdge(buckets[0]));
        var high = ClampedHigh > earlier.ClampedHigh ? Max : Math.Min(Max, LatencyBuckets.HighEdge(buckets[^1], Coarseness));
        return new LatencySnapshot(
            [.. buckets], [.. cumulative], Coarseness, Sum - earlier.Sum, low, high, ClampedLow - earlier.ClampedLow,
            ClampedHigh - earlier.ClampedHigh);
    }

    /// <summary>The figures for tables and files.</summary>
    internal LatencySummary Summarize() => new()
    {
        Count = Count,
        Min = Min,
        Mean = Mean,
        P50 = P50,
        P90 = P90,
        P95 = P95,
        P99 = P99,
        P999 = P999,
        P9999 = P9999,
        Max = Max,
        ClampedLow = ClampedLow,
        ClampedHigh = ClampedHigh,
    };

    /// <summary>The 1-based rank of a percentile among <paramref name="count"/> sorted values.</summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="percent"/> is not within 0 to 100.</exception>
    internal static long Rank(double percent, long count)
    {
        if (!(percent >= 0 && percent <= 100))
        {
            throw new ArgumentOutOfRangeException(nameof(percent), percent, "A percentile lies within 0 to 100.");
        }

        // Decimal, because 99.9 has no exact double: in binary, 99.9 % of 1,000 can be slightly above 999 and round up to the next rank.
        return Math.Max(1, (long)decimal.Ceiling((decimal)percent * count / 100));
    }

    /// <summary>The width of the buckets; see <see cref="LatencyBuckets.Coarse"/>.</summary>
    internal int Coarseness { get; }

    /// <summary>Bucket numbers and counts, lowest first.</summary>
    internal IEnumerable<(int Bucket, long Count)> NumberedCounts()
    {
        for (var i = 0; i < _buckets.Length; i++)
        {
            yield return (_buckets[i], CountAt(i));
        }
    }

    private long CountAt(int i) => i == 0 ? _cumulative[0] : _cumulative[i] - _cumulative[i - 1];
}
