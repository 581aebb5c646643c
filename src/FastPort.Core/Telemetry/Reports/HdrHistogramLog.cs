using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>
/// Formats the lines of an <c>.hlog</c> file, the interval log of HdrHistogram in format version 1.3: per interval and latency one
/// histogram over all messages, one per message type and one per operation, tagged <c>{scope name}/{latency}</c>. Values are nanoseconds;
/// the column <c>Interval_Max</c> has milliseconds.
/// </summary>
internal static class HdrHistogramLog
{
    private const double NanosecondsPerMillisecond = 1_000_000;

    /// <summary>The lines before the first interval.</summary>
    internal static string Header(DateTimeOffset started) => string.Create(
        CultureInfo.InvariantCulture,
        $"#[Histogram log format version 1.3]\n" +
        $"#[StartTime: {Seconds(started):0.000} (seconds since epoch), {started.UtcDateTime:yyyy-MM-dd'T'HH:mm:ss.fff'Z'}]\n" +
        $"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");

    /// <summary>The lines of a report's interval; a latency without values has no line.</summary>
    internal static string IntervalLines(LatencyReport report)
    {
        // By the current wall clock: the time of the start stays wrong once the clock has been adjusted.
        DateTimeOffset end = report.MeasuredUntil;
        var text = new StringBuilder();
        AppendLines(text, end, report.All);
        foreach (LatencyScopeReport scope in report.Types.Concat(report.Operations))
        {
            AppendLines(text, end, scope);
        }

        return text.ToString();
    }

    private static void AppendLines(StringBuilder text, DateTimeOffset end, LatencyScopeReport scope)
    {
        foreach (LatencyMetricReport metric in scope.Metrics)
        {
            LatencySnapshot values = metric.Interval;
            if (values.Count != 0)
            {
                double maximum = Math.Max(0, values.Max) / NanosecondsPerMillisecond;
                text.Append("Tag=");
                AppendTag(text, scope.Name);
                text.Append(CultureInfo.InvariantCulture, $"/{metric.Metric.Name},{Seconds(end - scope.Interval):0.000}");
                text.Append(CultureInfo.InvariantCulture, $",{scope.Interval.TotalSeconds:0.000},{maximum:0.000},");
                text.Append(HdrHistogramEncoding.ToBase64(values)).Append('\n');
            }
        }
    }

    // A comma ends a tag, and readers may split lines at white space.
    private static void AppendTag(StringBuilder text, string name)
    {
        foreach (char c in name)
        {
            text.Append(c == ',' || char.IsWhiteSpace(c) || char.IsControl(c) ? '_' : c);
        }
    }

    private static double Seconds(DateTimeOffset moment) => moment.ToUnixTimeMilliseconds() / 1000.0;
}
