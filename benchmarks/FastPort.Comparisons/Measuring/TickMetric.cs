namespace FastPort.Comparisons.Measuring;

/// <summary>What a repetition of reads and writes at a fixed time yields. Times are in microseconds, shares those of a core.</summary>
internal static class TickMetric
{
    public static readonly Metric ReadTags = new("read_tags_per_s", "read ops/s", "N2");

    public static readonly Metric WriteTags = new("write_tags_per_s", "write ops/s", "N2");

    public static readonly Metric Missed = new("missed_ticks", "missed ticks", "N0");

    public static readonly Metric Errors = new("failed_ticks", "errors", "N0");

    public static readonly Metric ReadP50 = new("read_p50_us", "read p50 us", "N0");

    public static readonly Metric ReadP95 = new("read_p95_us", "read p95 us", "N0");

    public static readonly Metric ReadP99 = new("read_p99_us", "read p99 us", "N0");

    public static readonly Metric ReadMax = new("read_max_us", "read max us", "N0");

    public static readonly Metric ReadVariation = new("read_cv", "read CV", "P0");

    public static readonly Metric WriteP50 = new("write_p50_us", "write p50 us", "N0");

    public static readonly Metric WriteP95 = new("write_p95_us", "write p95 us", "N0");

    public static readonly Metric WriteP99 = new("write_p99_us", "write p99 us", "N0");

    public static readonly Metric WriteMax = new("write_max_us", "write max us", "N0");

    public static readonly Metric DriftMean = new("drift_mean_us", "drift mean us", "N1");

    public static readonly Metric DriftP95 = new("drift_p95_us", "drift p95 us", "N1");

    public static readonly Metric DriftMax = new("drift_max_us", "drift max us", "N1");

    public static readonly Metric CpuAverage = new("client_cpu_percent", "client CPU % of a core", "N2");

    public static readonly Metric CpuP95 = new("client_cpu_p95_percent", "client CPU p95 %", "N2");

    public static readonly Metric RssMax = new("client_rss_max_mb", "client RSS max MB", "N2");

    public static readonly Metric RssGrowth = new("client_rss_growth_mb", "client RSS growth MB", "N1");

    public static readonly Metric HeapMax = new("client_heap_max_mb", "client heap max MB", "N2");

    public static readonly Metric GcPause = new("client_gc_pause_ms", "client GC pause ms", "N2");

    public static IReadOnlyList<Metric> All { get; } =
    [
        ReadTags, WriteTags, Missed, Errors, ReadP50, ReadP95, ReadP99, ReadMax, ReadVariation, WriteP50, WriteP95, WriteP99, WriteMax,
        DriftMean, DriftP95, DriftMax, CpuAverage, CpuP95, RssMax, RssGrowth, HeapMax, GcPause,
    ];
}
