using System.Globalization;
using System.Text.Json;
using FastPort.Client.Load;

namespace FastPort.Client.Reports;

/// <summary>Writes a result as JSON, schema 2 (docs/load-testing.md).</summary>
internal static class LoadResultWriter
{
    private static readonly JsonWriterOptions Indented = new() { Indented = true };

    public static byte[] ToUtf8(LoadResult result)
    {
        using var stream = new MemoryStream();
        using (var json = new Utf8JsonWriter(stream, Indented))
        {
            Write(json, result);
        }

        stream.WriteByte((byte)'\n');
        return stream.ToArray();
    }

    private static void Write(Utf8JsonWriter json, LoadResult result)
    {
        json.WriteStartObject();
        json.WriteNumber("schema", LoadResult.CurrentSchema);
        json.WriteString("mode", result.Mode);
        json.WriteString("server", result.Server);
        json.WriteNumber("connections", result.Connections);
        json.WriteNumber("in_flight", result.InFlight);
        json.WriteNumber("payload_bytes", result.PayloadBytes);
        WriteNumber(json, "rate", result.Rate);
        json.WriteNumber("duration_s", Math.Round(result.DurationSeconds, 6));
        json.WriteNumber("messages", result.Messages);
        json.WriteNumber("errors", result.Errors);
        json.WriteNumber("messages_per_s", Math.Round(result.MessagesPerSecond, 3));
        json.WriteNumber("bytes_per_s", Math.Round(result.BytesPerSecond, 3));
        WriteLatencies(json, result.RoundTrip, result.ServerTime, result.Network);
        json.WriteStartObject("environment");
        json.WriteString("os", result.Environment.Os);
        json.WriteNumber("cpu_count", result.Environment.CpuCount);
        json.WriteString("runtime", result.Environment.Runtime);
        json.WriteString("gc", result.Environment.Gc);
        json.WriteString("commit", result.Environment.Commit);
        json.WriteEndObject();
        WriteMore(json, result);
        json.WriteEndObject();
    }

    // The fields that not every result has.
    private static void WriteMore(Utf8JsonWriter json, LoadResult result)
    {
        json.WriteString("transport", result.Transport);
        WriteNumber(json, "warmup_s", result.WarmUpSeconds);
        WriteNumber(json, "loops", result.Loops);
        WriteNumber(json, "spin_us", result.SpinMicroseconds);
        WriteFlag(json, "pin_loops", result.PinLoops);
        WriteFlag(json, "hosted", result.Hosted);

        if (result.Started is { } started)
        {
            json.WriteString("started", started.UtcDateTime);
        }

        json.WriteString("command_line", result.CommandLine);
        WriteNumber(json, "missed_sends", result.MissedSends);
        json.WriteNumber("reconnects", result.Reconnects);
        WriteNumber(json, "interruptions", result.Interruptions);
        WriteNumber(json, "interrupted_s", result.InterruptedSeconds is { } seconds ? Math.Round(seconds, 3) : null);
        json.WriteString("bound_by", result.BoundBy);
        json.WriteStartObject("errors_by_kind");
        foreach ((LoadErrorKind kind, long count) in result.ErrorKinds)
        {
            json.WriteNumber(NameOf(kind), count);
        }

        json.WriteEndObject();
        WriteConnections(json, result.PerConnection);
        result.Latencies?.WriteDistributions(json);
        if (result.Throughput is { } columns)
        {
            WriteThroughput(json, columns);
        }
    }

    private static void WriteNumber(Utf8JsonWriter json, string name, double? number)
    {
        if (number is { } given)
        {
            json.WriteNumber(name, given);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    private static void WriteFlag(Utf8JsonWriter json, string name, bool? flag)
    {
        if (flag is { } given)
        {
            json.WriteBoolean(name, given);
        }
        else
        {
            json.WriteNull(name);
        }
    }

    // The timeline of a load with latencies, without any.
    private static void WriteThroughput(Utf8JsonWriter json, IReadOnlyList<ThroughputColumn> columns)
    {
        json.WriteStartObject("timeline");
        WriteArray(json, "start_s", columns, static column => Math.Round(column.Start.TotalSeconds, 3));
        WriteArray(json, "seconds", columns, static column => Math.Round(column.Length.TotalSeconds, 3));
        WriteArray(json, "messages", columns, static column => column.Messages);
        WriteArray(json, "errors", columns, static column => column.Errors);
        json.WriteEndObject();
    }

    private static void WriteArray<T, TNumber>(Utf8JsonWriter json, string name, IEnumerable<T> items, Func<T, TNumber> number)
        where TNumber : IFormattable
    {
        json.WritePropertyName(name);
        json.WriteRawValue($"[{string.Join(',', items.Select(item => number(item).ToString(null, CultureInfo.InvariantCulture)))}]");
    }

    private static void WriteConnections(Utf8JsonWriter json, IReadOnlyList<ConnectionFigures>? connections)
    {
        if (connections is null)
        {
            json.WriteNull("per_connection");
            return;
        }

        json.WriteStartArray("per_connection");
        foreach (ConnectionFigures connection in connections)
        {
            json.WriteStartObject();
            json.WriteNumber("connection", connection.Connection);
            json.WriteNumber("duration_s", Math.Round(connection.DurationSeconds, 6));
            json.WriteNumber("messages", connection.Messages);
            json.WriteNumber("errors", connection.Errors);
            WriteLatencies(json, connection.RoundTrip, connection.ServerTime, connection.Network);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteLatencies(Utf8JsonWriter json, LatencyFigures? roundTrip, LatencyFigures? serverTime, LatencyFigures? network)
    {
        WriteFigures(json, "rtt_us", roundTrip);
        WriteFigures(json, "server_us", serverTime);
        WriteFigures(json, "network_us", network);
    }

    private static string NameOf(LoadErrorKind kind) => kind switch
    {
        LoadErrorKind.Lost => "lost",
        LoadErrorKind.ErrorReply => "error_replies",
        LoadErrorKind.Wrong => "wrong",
        LoadErrorKind.Unanswered => "unanswered",
        _ => "disconnected",
    };

    private static void WriteFigures(Utf8JsonWriter json, string name, LatencyFigures? figures)
    {
        if (figures is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartObject(name);
        json.WriteNumber("count", figures.Count);
        json.WriteNumber("min", Math.Round(figures.Min, 3));
        json.WriteNumber("avg", Math.Round(figures.Avg, 3));
        json.WriteNumber("p50", Math.Round(figures.P50, 3));
        json.WriteNumber("p90", Math.Round(figures.P90, 3));
        json.WriteNumber("p95", Math.Round(figures.P95, 3));
        json.WriteNumber("p99", Math.Round(figures.P99, 3));
        json.WriteNumber("p999", Math.Round(figures.P999, 3));
        json.WriteNumber("max", Math.Round(figures.Max, 3));
        json.WriteNumber("p99_over_avg", Math.Round(figures.P99OverAvg, 3));
        json.WriteEndObject();
    }
}
