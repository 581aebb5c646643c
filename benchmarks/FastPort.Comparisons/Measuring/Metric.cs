namespace FastPort.Comparisons.Measuring;

/// <summary>A figure that runs yield. Which of them a run has depends on what is measured.</summary>
/// <param name="Key">Its name in the JSON report.</param>
/// <param name="Title">Its name in the tables, with the unit.</param>
/// <param name="Format">How a table writes it.</param>
internal sealed record Metric(string Key, string Title, string Format)
{
    public static readonly Metric Throughput = new("messages_per_s", "messages/s", "N0") { HasRange = true };

    public static readonly Metric Messages = new("messages", "messages", "N0");

    public static readonly Metric Seconds = new("seconds", "seconds", "N2");

    public static readonly Metric Tags = new("tags_per_s", "tags/s", "N0");

    public static readonly Metric Mebibits = new("mebibits_per_s", "Mebibit/s", "N0");

    public static readonly Metric Megabytes = new("megabytes_per_s", "MB/s", "N0");

    public static readonly Metric ServerCpuPerMessage = new("server_cpu_us_per_message", "server CPU us/message", "N3") { HasRange = true };

    public static readonly Metric ClientCpuPerMessage = new("client_cpu_us_per_message", "client CPU us/message", "N3") { HasRange = true };

    public static readonly Metric BridgeCpuPerMessage = new("bridge_cpu_us_per_message", "bridge CPU us/message", "N3") { HasRange = true };

    public static readonly Metric BothCpuPerMessage = new("both_cpu_us_per_message", "both ends' CPU us/message", "N2");

    public static readonly Metric ServerAllocated = new("server_allocated_bytes", "server B allocated/message", "N1");

    public static readonly Metric ClientAllocated = new("client_allocated_bytes", "client B allocated/message", "N0");

    public static readonly Metric RoundTripP50 = new("p50_us", "round trip p50 us", "N1") { HasRange = true };

    public static readonly Metric RoundTripP95 = new("p95_us", "p95 us", "N1");

    public static readonly Metric RoundTripP99 = new("p99_us", "p99 us", "N1") { HasRange = true };

    public static readonly Metric RoundTripP999 = new("p999_us", "p99.9 us", "N0") { HasRange = true };

    public static readonly Metric RoundTripMax = new("max_us", "max us", "N0");

    public static readonly Metric ServerCpuShare = new("server_cpu_share", "server CPU", "P0");

    public static readonly Metric ClientCpuShare = new("client_cpu_share", "client CPU", "P0");

    public static readonly Metric BridgeCpuShare = new("bridge_cpu_share", "bridge CPU", "P0");

    public static readonly Metric OtherCpuShare = new("other_cpu_share", "other programs' CPU", "P0");

    public static readonly Metric SourceReads = new("source_reads_per_s", "OPC UA Reads/s", "N1");

    public static readonly Metric OldestValue = new("oldest_value_ms", "oldest value ms", "N2");

    public static readonly Metric MissedRequests = new("missed_requests", "missed requests", "N0");

    public static readonly Metric LateRequests = new("late_requests", "late requests", "N0");

    public static readonly Metric ServerPeakRss = new("server_peak_rss_mb", "server peak RSS MB", "N0");

    public static readonly Metric ClientPeakRss = new("client_peak_rss_mb", "client peak RSS MB", "N0");

    public static readonly Metric RssBefore = new("rss_before_mb", "server RSS before MB", "N1");

    public static readonly Metric RssGrowth = new("rss_growth_mb", "RSS growth MB", "N1");

    public static readonly Metric RssPerConnection = new("rss_bytes_per_connection", "RSS growth B/connection", "N0");

    public static readonly Metric IdleCpuShare = new("idle_cpu_share", "server CPU while idle", "P2");

    /// <summary>
    /// Whether tables show the range of the runs beside the median, as of everything that servers are compared by. Defaults to false.
    /// </summary>
    public bool HasRange { get; init; }

    // Put together anew each time: the other list's metrics are made of this class.
    public static IReadOnlyList<Metric> All =>
    [
        Throughput, Tags, Mebibits, Megabytes, ServerCpuPerMessage, ClientCpuPerMessage, BothCpuPerMessage, RoundTripP50, RoundTripP95,
        RoundTripP99, RoundTripP999, RoundTripMax, ServerAllocated, ClientAllocated, ServerCpuShare, ClientCpuShare,
        OtherCpuShare, ServerPeakRss, ClientPeakRss, RssBefore, RssGrowth, RssPerConnection, IdleCpuShare, Messages, Seconds,
        BridgeCpuPerMessage, BridgeCpuShare, SourceReads, OldestValue, MissedRequests, LateRequests,
        .. TickMetric.All, .. ColdMetric.All,
    ];

    /// <summary>The metric with a key; one that no longer exists is shown under its key.</summary>
    public static Metric Find(string key) => All.FirstOrDefault(metric => metric.Key == key) ?? new Metric(key, key, "N3");
}
