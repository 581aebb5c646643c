using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>
/// Formats a report's interval as CSV: one row per scope and latency, then one per count; times in microseconds, invariant number format,
/// line feeds.
/// </summary>
internal static class LatencyCsv
{
    /// <summary>The first line of a file, line feed included.</summary>
    public const string Header =
        "time_utc,lifetime_s,interval_s,scope,key,name,series,count,per_s,errors," +
        "min_us,avg_us,p50_us,p90_us,p95_us,p99_us,p999_us,max_us,clamped_low,clamped_high\n";

    private static readonly char[] NeedQuotes = [',', '"', '\r', '\n'];

    /// <summary>The rows of a report's interval.</summary>
    /// <param name="report">The report.</param>
    public static string IntervalRows(LatencyReport report)
    {
        ArgumentNullException.ThrowIfNull(report);
        var text = new StringBuilder();
        var time = report.Taken.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        foreach (var scope in report.Scopes.Concat(report.Operations))
        {
            foreach (var metric in scope.Metrics)
            {
                AppendRow(text, time, scope, metric.Metric, metric.Interval.Summarize());
            }
        }

        foreach (var count in report.Counts.Where(static count => count.Interval.Per is null))
        {
            AppendCount(text, time, report.All, count);
        }

        return text.ToString();
    }

    private static void AppendRow(
        StringBuilder text, string time, LatencyScopeReport scope, LatencyMetric metric, in LatencySummary summary)
    {
        var key = scope.Scope is LatencyScope.All or LatencyScope.Operation ? "" : scope.Key.ToString(CultureInfo.InvariantCulture);
        var rate = Rate(summary.Count, scope.Interval);
        text.Append(time)
            .Append(CultureInfo.InvariantCulture, $",{scope.Lifetime.TotalSeconds:0.###},{scope.Interval.TotalSeconds:0.###}")
            .Append(CultureInfo.InvariantCulture, $",{LatencyText.ScopeName(scope.Scope)},{key},{Quoted(scope.Name)},{metric.Name}")
            .Append(CultureInfo.InvariantCulture, $",{summary.Count},{rate:0.###},{scope.IntervalErrors}");
        foreach (var nanoseconds in (ReadOnlySpan<double>)
            [summary.Min, summary.Mean, summary.P50, summary.P90, summary.P95, summary.P99, summary.P999, summary.Max])
        {
            text.Append(CultureInfo.InvariantCulture, $",{nanoseconds / 1000:0.###}");
        }

        text.Append(CultureInfo.InvariantCulture, $",{summary.ClampedLow},{summary.ClampedHigh}\n");
    }

    // A count has no errors and no latencies.
    private static void AppendCount(StringBuilder text, string time, LatencyScopeReport all, CountReport count) => text
        .Append(time)
        .Append(CultureInfo.InvariantCulture, $",{all.Lifetime.TotalSeconds:0.###},{all.Interval.TotalSeconds:0.###}")
        .Append(CultureInfo.InvariantCulture, $",count,,{Quoted(count.Owner)},{Quoted(count.Name)}")
        .Append(CultureInfo.InvariantCulture, $",{count.Interval.Count},{Rate(count.Interval.Count, all.Interval):0.###},,,,,,,,,,,\n");

    private static double Rate(long count, TimeSpan time) => time > TimeSpan.Zero ? count / time.TotalSeconds : 0;

    private static string Quoted(string name) =>
        name.AsSpan().ContainsAny(NeedQuotes) ? $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"" : name;
}
