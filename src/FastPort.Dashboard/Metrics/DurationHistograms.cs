using System.Buffers;
using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;
using FastPort.Telemetry;

namespace FastPort.Dashboard.Metrics;

/// <summary>The latencies as Prometheus histograms in its text format 0.0.4: for each latency a count per bound, sum and count.</summary>
/// <remarks>
/// The bounds divide each power of two from 128 ns to 8.6 s in four, at most 19.1 % apart. Each is the end of a bucket that latencies are
/// kept in, so the counts are exact.
/// </remarks>
internal static class DurationHistograms
{
    private const string TypeLabel = "message_type";
    private const string ServerTag = "fastport.server";

    private static readonly (long Nanoseconds, string Seconds)[] Bounds = [.. CreateBounds()];

    private static readonly Dictionary<string, (string Name, string Help)> Families = new(StringComparer.Ordinal)
    {
        ["decode_to_send"] = (
            "fastport_request_duration_seconds", "From the last byte of a request in memory until its reply is passed to the transport"),
        ["queue"] = ("fastport_request_queue_duration_seconds", "From the last byte of a request in memory until its handler starts"),
        ["handler"] = ("fastport_request_handler_duration_seconds", "From the start of a handler to its end"),
        ["call"] = ("fastport_operation_duration_seconds", "From the start of an operation of the application to its end"),
    };

    /// <summary>Whether an instrument is left out: it is a latency's number, sum or percentiles, which its histogram includes.</summary>
    /// <remarks>
    /// The latencies of clients and of other servers have no histogram, so their number and sum stay. Their percentiles cannot: Prometheus
    /// allows the label <c>quantile</c> on summaries only.
    /// </remarks>
    /// <param name="instrument">The instrument.</param>
    /// <param name="server">The name of the server whose histograms are written; empty for the one without a name.</param>
    public static bool Replace(Instrument instrument, string server) =>
        instrument.Name.Contains(".duration.", StringComparison.Ordinal)
        && instrument is not Histogram<double>
        && (instrument.Name.EndsWith(".quantile", StringComparison.Ordinal) || HasHistogram(instrument, server));

    /// <summary>Writes the histograms of all message types and operations.</summary>
    /// <param name="output">Receives the text.</param>
    /// <param name="report">The figures.</param>
    public static void Write(IBufferWriter<byte> output, LatencyReport report)
    {
        for (int metric = 0; metric < report.All.Metrics.Count; metric++)
        {
            WriteFamily(output, report.Types, metric, TypeLabel);
        }

        WriteFamily(output, report.Operations, 0, "operation");
    }

    // A meter has one tag, its server's or its client's name, or none if that has no name.
    private static bool HasHistogram(Instrument instrument, string server) =>
        !instrument.Name.StartsWith("fastport.client.", StringComparison.Ordinal)
        && (instrument.Meter.Tags?.ToArray() ?? []) is var tags
        && (server.Length == 0 ? tags.Length == 0 : tags.Contains(new KeyValuePair<string, object?>(ServerTag, server)));

    private static void WriteFamily(IBufferWriter<byte> output, IReadOnlyList<LatencyScopeReport> scopes, int metric, string label)
    {
        if (scopes.Count == 0 || !Families.TryGetValue(scopes[0].Metrics[metric].Name, out (string Name, string Help) family))
        {
            return;
        }

        Append(output, $"# TYPE {family.Name} histogram\n# HELP {family.Name} {family.Help}\n");
        foreach (LatencyScopeReport scope in scopes)
        {
            LatencySnapshot latency = scope.Metrics[metric].Lifetime;
            string labels = $"{label}=\"{Escape(scope.Name)}\"";
            foreach ((long nanoseconds, string seconds) in Bounds)
            {
                Append(output, $"{family.Name}_bucket{{{labels},le=\"{seconds}\"}} {latency.CountAtMost(nanoseconds)}\n");
            }

            Append(output, $"{family.Name}_bucket{{{labels},le=\"+Inf\"}} {latency.Count}\n");
            Append(output, string.Create(CultureInfo.InvariantCulture, $"{family.Name}_sum{{{labels}}} {(double)latency.Sum / 1e9:R}\n"));
            Append(output, $"{family.Name}_count{{{labels}}} {latency.Count}\n");
        }
    }

    private static void Append(IBufferWriter<byte> output, string line) => Encoding.UTF8.GetBytes(line, output);

    private static IEnumerable<(long Nanoseconds, string Seconds)> CreateBounds()
    {
        for (int power = 7; power < 33; power++)
        {
            // 512 * 2^(0, 1/4, 2/4, 3/4).
            foreach (int part in (int[])[512, 609, 724, 861])
            {
                yield return Bound((1L << power) * part / 512);
            }
        }

        yield return Bound(1L << 33);

        static (long Nanoseconds, string Seconds) Bound(long end) =>
            (end - 1, ((end - 1) / 1e9).ToString("R", CultureInfo.InvariantCulture));
    }

    private static string Escape(string value) =>
        value.Replace(@"\", @"\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal)
            .Replace("\n", @"\n", StringComparison.Ordinal);
}
