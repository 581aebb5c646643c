using System.Buffers;
using System.Runtime;
using System.Runtime.InteropServices;
using System.Text.Json;

namespace FastPort.Telemetry;

/// <summary>Writes latencies as JSON.</summary>
internal static class LatencyJson
{
    /// <summary>
    /// Version of the documents of <see cref="WriteReport"/>. It increases when a field changes or is removed, not when a field is added.
    /// </summary>
    public const int Schema = 2;

    private const double NanosecondsPerMicrosecond = 1000;

    /// <summary>
    /// Writes the object <c>{"count","min","avg","p50","p90","p95","p99","p999","max"}</c>; <c>count</c> is an integer, the rest are
    /// microseconds.
    /// </summary>
    /// <param name="writer">Positioned where a value may stand; not flushed.</param>
    /// <param name="summary">The figures.</param>
    public static void WriteMicroseconds(Utf8JsonWriter writer, in LatencySummary summary)
    {
        ArgumentNullException.ThrowIfNull(writer);
        writer.WriteStartObject();
        writer.WriteNumber("count", summary.Count);
        writer.WriteNumber("min", Microseconds(summary.Min));
        writer.WriteNumber("avg", Microseconds(summary.Mean));
        writer.WriteNumber("p50", Microseconds(summary.P50));
        writer.WriteNumber("p90", Microseconds(summary.P90));
        writer.WriteNumber("p95", Microseconds(summary.P95));
        writer.WriteNumber("p99", Microseconds(summary.P99));
        writer.WriteNumber("p999", Microseconds(summary.P999));
        writer.WriteNumber("max", Microseconds(summary.Max));
        writer.WriteEndObject();
    }

    /// <summary>Writes the figures of a snapshot as <see cref="WriteMicroseconds(Utf8JsonWriter, in LatencySummary)"/> does.</summary>
    /// <param name="writer">Positioned where a value may stand; not flushed.</param>
    /// <param name="snapshot">The latencies.</param>
    public static void WriteMicroseconds(Utf8JsonWriter writer, LatencySnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        WriteMicroseconds(writer, snapshot.Summarize());
    }

    /// <summary>Writes a report as one object; docs/latency-reports.md lists its fields.</summary>
    /// <param name="writer">Positioned where a value may stand; not flushed.</param>
    /// <param name="report">The report.</param>
    /// <param name="final">Whether it is the last report of the process.</param>
    /// <param name="name">The name of the server; null if it has none.</param>
    public static void WriteReport(Utf8JsonWriter writer, LatencyReport report, bool final, string? name = null)
    {
        ArgumentNullException.ThrowIfNull(writer);
        ArgumentNullException.ThrowIfNull(report);
        writer.WriteStartObject();
        writer.WriteNumber("schema", Schema);
        writer.WriteString("role", LatencyText.RoleName(report.Role));
        writer.WriteString("name", name);
        writer.WriteNumber("process_id", report.ProcessId);
        writer.WriteString("started", report.Started.UtcDateTime);
        writer.WriteString("measuring_since", report.MeasuringSince.UtcDateTime);
        writer.WriteString("written", report.Taken.UtcDateTime);
        writer.WriteBoolean("final", final);
        writer.WriteStartArray("scopes");
        foreach (var scope in report.Scopes)
        {
            WriteScope(writer, scope);
        }

        writer.WriteEndArray();
        writer.WriteNumber("sessions_left_out", report.SessionsLeftOut);
        writer.WriteStartArray("operations");
        foreach (var operation in report.Operations)
        {
            writer.WriteStartObject();
            WriteNameAndPeriods(writer, operation);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        WriteCounts(writer, report);
        WriteRecent(writer, report);
        writer.WritePropertyName("timeline");
        DistributionJson.WriteTimeline(writer, report.Timeline);
        WriteEnvironment(writer);
        writer.WriteEndObject();
    }

    /// <summary>A report as an indented UTF-8 document.</summary>
    internal static ReadOnlyMemory<byte> ToUtf8(LatencyReport report, bool final, string? name = null)
    {
        var buffer = new ArrayBufferWriter<byte>(16 * 1024);
        using var writer = new Utf8JsonWriter(buffer, new JsonWriterOptions { Indented = true });
        WriteReport(writer, report, final, name);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    private static void WriteScope(Utf8JsonWriter writer, LatencyScopeReport scope)
    {
        writer.WriteStartObject();
        writer.WriteString("scope", LatencyText.ScopeName(scope.Scope));
        if (scope.Scope == LatencyScope.All)
        {
            writer.WriteNull("key");
        }
        else
        {
            writer.WriteNumber("key", scope.Key);
        }

        WriteNameAndPeriods(writer, scope);
        writer.WriteEndObject();
    }

    private static void WriteNameAndPeriods(Utf8JsonWriter writer, LatencyScopeReport scope)
    {
        writer.WriteString("name", scope.Name);
        WritePeriod(
            writer, "interval", scope, scope.Interval, scope.IntervalErrors, scope.IntervalRate, static metric => metric.Interval,
            withHistograms: false);
        WritePeriod(
            writer, "lifetime", scope, scope.Lifetime, scope.LifetimeErrors, scope.LifetimeRate, static metric => metric.Lifetime,
            withHistograms: scope.Scope != LatencyScope.Session);
    }

    private static void WritePeriod(
        Utf8JsonWriter writer,
        string name,
        LatencyScopeReport scope,
        TimeSpan length,
        long errors,
        double rate,
        Func<LatencyMetricReport, LatencySnapshot> period,
        bool withHistograms)
    {
        writer.WriteStartObject(name);
        writer.WriteNumber("seconds", length.TotalSeconds);
        writer.WriteNumber(LatencyText.Counted(scope.Scope) + "s", period(scope.Metrics[0]).Count);
        writer.WriteNumber("per_s", Math.Round(rate, 3));
        writer.WriteNumber("errors", errors);
        foreach (var metric in scope.Metrics)
        {
            var summary = period(metric).Summarize();
            writer.WriteStartObject(metric.Metric.Name);
            writer.WritePropertyName("us");
            WriteMicroseconds(writer, summary);
            writer.WriteNumber("p9999_us", Microseconds(summary.P9999));
            writer.WriteNumber("p99_over_avg", Math.Round(summary.P99OverMean, 3));
            writer.WriteNumber("clamped_low", summary.ClampedLow);
            writer.WriteNumber("clamped_high", summary.ClampedHigh);
            if (withHistograms)
            {
                writer.WritePropertyName("histogram");
                DistributionJson.WriteHistogram(writer, period(metric));
            }

            writer.WriteEndObject();
        }

        writer.WriteEndObject();
    }

    private static void WriteCounts(Utf8JsonWriter writer, LatencyReport report)
    {
        writer.WriteStartArray("counts");
        foreach (var owner in report.Counts.GroupBy(static count => count.Owner))
        {
            writer.WriteStartObject();
            writer.WriteString("name", owner.Key);
            WriteCounts(writer, "interval", owner, static count => count.Interval);
            WriteCounts(writer, "lifetime", owner, static count => count.Lifetime);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    private static void WriteCounts(
        Utf8JsonWriter writer, string name, IEnumerable<CountReport> counts, Func<CountReport, CountIncrease> period)
    {
        writer.WriteStartObject(name);
        foreach (var count in counts)
        {
            CountIncrease increase = period(count);
            if (increase.Per is null)
            {
                writer.WriteNumber(count.Name, increase.Count);
            }
            else if (increase.Ratio is { } ratio)
            {
                writer.WriteNumber(count.Name, Math.Round(ratio, 6));
            }
            else
            {
                writer.WriteNull(count.Name);
            }
        }

        writer.WriteEndObject();
    }

    private static void WriteRecent(Utf8JsonWriter writer, LatencyReport report)
    {
        if (report.Recent is not { } recent)
        {
            writer.WriteNull("recent");
            return;
        }

        writer.WriteStartObject("recent");
        writer.WriteNumber("samples", recent.Count);
        writer.WriteNumber("seconds", recent.Window.TotalSeconds);
        var metrics = LatencyMetric.Of(report.Role);
        for (var i = 0; i < metrics.Count; i++)
        {
            writer.WriteStartObject(metrics[i].Name);
            writer.WritePropertyName("us");
            WriteMicroseconds(writer, recent.Metrics[i]);
            writer.WriteEndObject();
        }

        writer.WriteEndObject();
    }

    private static void WriteEnvironment(Utf8JsonWriter writer)
    {
        writer.WriteStartObject("environment");
        writer.WriteString("os", RuntimeInformation.OSDescription);
        writer.WriteNumber("cpu_count", Environment.ProcessorCount);
        writer.WriteString("runtime", RuntimeInformation.FrameworkDescription);
        writer.WriteString("gc", GCSettings.IsServerGC ? "server" : "workstation");
        writer.WriteString("program", Path.GetFileName(Environment.ProcessPath));
        writer.WriteEndObject();
    }

    private static double Microseconds(long nanoseconds) => nanoseconds / NanosecondsPerMicrosecond;

    // Rounded to picoseconds: further digits of the mean have no meaning.
    private static double Microseconds(double nanoseconds) => Math.Round(nanoseconds / NanosecondsPerMicrosecond, 6);
}
