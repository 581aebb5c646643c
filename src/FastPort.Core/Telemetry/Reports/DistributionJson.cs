using System.Globalization;
using System.Numerics;
using System.Text;
using System.Text.Json;

namespace FastPort.Telemetry;

/// <summary>Writes histograms and the timeline as JSON: arrays of numbers, each on one line.</summary>
internal static class DistributionJson
{
    /// <summary>Rows of the heat map in each power of two: a row is 9 % high.</summary>
    internal const int RowsPerOctave = 8;

    private const double NanosecondsPerMicrosecond = 1000;

    /// <summary>
    /// Writes <c>{"us": [...], "counts": [...]}</c>: a value in microseconds for each filled bucket, ascending, and how many values it
    /// stands for.
    /// </summary>
    internal static void WriteHistogram(Utf8JsonWriter writer, LatencySnapshot snapshot)
    {
        writer.WriteStartObject();
        WriteArray(writer, "us", snapshot.Buckets, bucket =>
            Microseconds(Math.Clamp(bucket.Lowest + ((bucket.Highest - bucket.Lowest) / 2), snapshot.Min, snapshot.Max)));
        WriteArray(writer, "counts", snapshot.Buckets, static bucket => bucket.Count);
        writer.WriteEndObject();
    }

    /// <summary>Writes the columns of the measured time as an object of arrays; docs/latency-reports.md lists its fields.</summary>
    internal static void WriteTimeline(Utf8JsonWriter writer, IReadOnlyList<LatencyColumn> columns)
    {
        writer.WriteStartObject();
        WriteArray(writer, "start_s", columns, static column => Math.Round(column.Start.TotalSeconds, 3));
        WriteArray(writer, "seconds", columns, static column => Math.Round(column.Length.TotalSeconds, 3));
        WriteArray(writer, "messages", columns, static column => column.Latencies.Count);
        WriteArray(writer, "errors", columns, static column => column.Errors);
        WriteArray(writer, "p50_us", columns, static column => Microseconds(column.Latencies.P50));
        WriteArray(writer, "p99_us", columns, static column => Microseconds(column.Latencies.P99));
        WriteArray(writer, "max_us", columns, static column => Microseconds(column.Latencies.Max));
        writer.WriteNumber("rows_per_octave", RowsPerOctave);
        writer.WriteStartArray("heat");
        foreach (LatencyColumn column in columns)
        {
            writer.WriteRawValue(Cells(column.Latencies));
        }

        writer.WriteEndArray();
        writer.WriteEndObject();
    }

    /// <summary>The row of a value: row 0 begins at 1 ns.</summary>
    internal static int RowOf(long nanoseconds)
    {
        long value = Math.Max(nanoseconds, 1);
        int octave = BitOperations.Log2((ulong)value);
        int row = (int)(RowsPerOctave * Math.Log2((double)value / (1L << octave)));
        return (octave * RowsPerOctave) + Math.Clamp(row, 0, RowsPerOctave - 1);
    }

    // Row, count, row, count, ... of the rows that are not empty, lowest first.
    private static string Cells(LatencySnapshot snapshot)
    {
        var text = new StringBuilder("[");
        foreach (var row in snapshot.Buckets.GroupBy(static bucket => RowOf(bucket.Lowest)))
        {
            text.Append(text.Length == 1 ? "" : ",")
                .Append(CultureInfo.InvariantCulture, $"{row.Key},{row.Sum(static bucket => bucket.Count)}");
        }

        return text.Append(']').ToString();
    }

    private static void WriteArray<T, TNumber>(Utf8JsonWriter writer, string name, IEnumerable<T> items, Func<T, TNumber> number)
        where TNumber : INumber<TNumber>
    {
        writer.WritePropertyName(name);
        writer.WriteRawValue($"[{string.Join(',', items.Select(item => number(item).ToString(null, CultureInfo.InvariantCulture)))}]");
    }

    private static double Microseconds(long nanoseconds) => nanoseconds / NanosecondsPerMicrosecond;
}
