using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Reports;

/// <summary>A figure that every run yields.</summary>
internal sealed record Metric(string Key, string Title, string Format, Func<LoadResult, double> Read)
{
    public static readonly Metric Throughput = new("messages_per_s", "messages/s", "N0", run => run.MessagesPerS);

    public static readonly Metric ServerCpuPerMessage = new("server_cpu_us_per_message", "server CPU us/message", "N3", run => run.ServerCpuUsPerMessage);

    public static readonly Metric RoundTripP50 = new("p50_us", "round trip p50 us", "N1", run => run.P50Us);

    public static readonly Metric RoundTripP99 = new("p99_us", "round trip p99 us", "N1", run => run.P99Us);

    public static readonly Metric ServerCpuShare = new("server_cpu_share", "server CPU", "P0", run => run.ServerCpuS / run.Seconds);

    public static readonly Metric ClientCpuShare = new("client_cpu_share", "client CPU", "P0", run => run.ClientCpuS / run.Seconds);

    public static readonly Metric ServerPeakRss = new("server_peak_rss_mb", "server peak RSS MB", "N0", run => run.ServerPeakRssKb / 1024.0);

    public static readonly Metric ClientPeakRss = new("client_peak_rss_mb", "client peak RSS MB", "N0", run => run.ClientPeakRssKb / 1024.0);

    public static readonly Metric OtherCpuShare = new("other_cpu_share", "other programs' CPU", "P0", run => run.OtherCpuS / run.Seconds);

    public static IReadOnlyList<Metric> All { get; } =
        [Throughput, ServerCpuPerMessage, RoundTripP50, RoundTripP99, ServerCpuShare, ClientCpuShare, ServerPeakRss, ClientPeakRss, OtherCpuShare];
}
