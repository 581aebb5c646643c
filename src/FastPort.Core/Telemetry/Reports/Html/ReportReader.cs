using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace FastPort.Telemetry.Reports.Html;

/// <summary>
/// Reads a report's data from the JSON files of schema 1 and 2: those of <see cref="LatencyStats"/>, and results of load runs.
/// </summary>
internal static class ReportReader
{
    /// <summary>Sessions shown: those with the highest P99.</summary>
    internal const int MaxSessions = 20;

    /// <summary>Message types and operations shown: those with the most messages.</summary>
    internal const int MaxTypes = 100;

    private const int LatestSchema = 2;

    /// <summary>Reads a file's contents.</summary>
    /// <exception cref="JsonException">It is not such a file; the message says why.</exception>
    internal static ReportData Read(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        JsonElement root = document.RootElement;
        try
        {
            if (root.GetProperty("schema").GetInt32() is var schema && schema is < 1 or > LatestSchema)
            {
                throw new JsonException($"its schema is {schema}; this version reads 1 to {LatestSchema}.");
            }

            return root.TryGetProperty("scopes", out _) ? Statistics(root) : LoadResult(root);
        }
        catch (KeyNotFoundException e)
        {
            throw new JsonException("it has neither the fields of a load run's result (--json) nor those of latency statistics.", e);
        }
        catch (Exception e) when (e is InvalidOperationException or FormatException or OverflowException)
        {
            throw new JsonException($"a field has a value of the wrong kind: {e.Message}", e);
        }
    }

    private static ReportData Statistics(JsonElement root)
    {
        JsonElement[] scopes = [.. root.GetProperty("scopes").EnumerateArray()];
        JsonElement all = scopes.First(static scope => Text(scope, "scope") == "all").GetProperty("lifetime");
        ReportScope[] sessions = [.. scopes.Where(static scope => Text(scope, "scope") == "session").Select(Scope)];
        IEnumerable<ReportScope> operations = root.TryGetProperty("operations", out JsonElement found)
            ? found.EnumerateArray().Select(Scope)
            : [];
        return new ReportData
        {
            Title = $"latencies of a {Text(root, "role")}",
            Facts = Facts(
                root,
                ("role", "role"), ("name", "name"), ("process", "process_id"), ("started", "started"),
                ("measuring since", "measuring_since"), ("written", "written"), ("final", "final")),
            Seconds = all.GetProperty("seconds").GetDouble(),
            Messages = all.GetProperty("messages").GetInt64(),
            PerS = all.GetProperty("per_s").GetDouble(),
            Errors = all.GetProperty("errors").GetInt64(),
            Latencies = Latencies(all, withHistograms: true),
            Types =
            [
                .. scopes.Where(static scope => Text(scope, "scope") == "type").Select(Scope).Concat(operations)
                    .OrderByDescending(static type => type.Messages).Take(MaxTypes),
            ],
            Sessions = Worst(sessions),
            SessionsMeasured = sessions.Length,
            Timeline = Timeline(root),
        };
    }

    private static ReportData LoadResult(JsonElement root)
    {
        string mode = Text(root, "mode");
        JsonElement rate = root.GetProperty("rate");
        string loop = mode != "echo" ? "one-way"
            : rate.ValueKind == JsonValueKind.Null ? "closed loop"
            : string.Create(CultureInfo.InvariantCulture, $"open loop at {rate.GetDouble():#,##0.###} messages/s");
        ReportScope[] sessions = root.TryGetProperty("per_connection", out JsonElement list) && list.ValueKind == JsonValueKind.Array
            ? [.. list.EnumerateArray().Select(Connection)]
            : [];
        List<string[]> facts = Facts(
            root,
            ("server", "server"), ("transport", "transport"), ("connections", "connections"), ("in flight", "in_flight"),
            ("payload bytes", "payload_bytes"), ("warm-up, s", "warmup_s"), ("loops", "loops"), ("spin, µs", "spin_us"),
            ("loops bound to cores", "pin_loops"), ("time without a reply, s", "interrupted_s"), ("started", "started"),
            ("command line", "command_line"));
        facts.Insert(1, ["load", $"{mode}, {loop}"]);
        return new ReportData
        {
            Title = string.Create(
                CultureInfo.InvariantCulture,
                $"{mode}, {Whole("connections")} connections x {Whole("in_flight")} in flight, {Whole("payload_bytes")} bytes"),
            Facts = facts,
            Seconds = root.GetProperty("duration_s").GetDouble(),
            Messages = root.GetProperty("messages").GetInt64(),
            PerS = root.GetProperty("messages_per_s").GetDouble(),
            Errors = root.GetProperty("errors").GetInt64(),
            AskedPerS = rate.ValueKind == JsonValueKind.Null ? null : rate.GetDouble(),
            BoundBy = root.TryGetProperty("bound_by", out JsonElement bound) ? bound.GetString() : null,
            LatenciesOf = rate.ValueKind == JsonValueKind.Null
                ? "messages answered in the measured time, from when each was sent"
                : "messages due in the measured time, from when each was due",
            Alarms = Alarms(root, ("missed sends", "missed_sends"), ("reconnects", "reconnects"), ("interruptions", "interruptions")),
            Latencies = ResultLatencies(root, root.TryGetProperty("histograms", out JsonElement histograms) ? histograms : null),
            Sessions = Worst(sessions),
            SessionsMeasured = sessions.Length,
            Timeline = Timeline(root),
        };

        string Whole(string name) => root.GetProperty(name).GetInt64().ToString("#,##0", CultureInfo.InvariantCulture);
    }

    // Of the figures in the file.
    private static List<ReportCount> Alarms(JsonElement root, params ReadOnlySpan<(string Name, string Field)> fields)
    {
        List<ReportCount> alarms = [];
        foreach ((string name, string field) in fields)
        {
            if (root.TryGetProperty(field, out JsonElement value) && value.ValueKind != JsonValueKind.Null)
            {
                alarms.Add(new ReportCount(name, value.GetInt64()));
            }
        }

        return alarms;
    }

    private static ReportScope[] Worst(ReportScope[] sessions) =>
        [.. sessions.OrderByDescending(static s => s.Latencies.Count == 0 ? 0 : s.Latencies[0].Us.P99).Take(MaxSessions)];

    private static ReportScope Scope(JsonElement scope)
    {
        JsonElement lifetime = scope.GetProperty("lifetime");
        string kind = scope.TryGetProperty("scope", out JsonElement given) ? given.GetString()! : "operation";
        string counted = kind == "operation" ? "calls" : "messages";
        return new ReportScope(
            kind,
            Text(scope, "name"),
            lifetime.GetProperty(counted).GetInt64(),
            lifetime.GetProperty("per_s").GetDouble(),
            lifetime.GetProperty("errors").GetInt64(),
            Latencies(lifetime, withHistograms: false));
    }

    private static ReportScope Connection(JsonElement connection)
    {
        long messages = connection.GetProperty("messages").GetInt64();
        double seconds = connection.GetProperty("duration_s").GetDouble();
        return new ReportScope(
            "session",
            connection.GetProperty("connection").GetInt64().ToString(CultureInfo.InvariantCulture),
            messages,
            seconds > 0 ? messages / seconds : 0,
            connection.GetProperty("errors").GetInt64(),
            ResultLatencies(connection, histograms: null));
    }

    // In the files of the statistics a latency is an object with the object "us".
    private static List<ReportLatency> Latencies(JsonElement period, bool withHistograms)
    {
        List<ReportLatency> latencies = [];
        foreach (JsonProperty property in period.EnumerateObject())
        {
            if (property.Value.ValueKind == JsonValueKind.Object)
            {
                ReportFigures figures = Part(property.Value, "us", ReportJson.Default.ReportFigures)
                    ?? throw new JsonException($"{property.Name} has no figures.");
                latencies.Add(new ReportLatency(
                    Shown(property.Name), figures, withHistograms ? Histogram(property.Value, "histogram") : null));
            }
        }

        return latencies;
    }

    private static List<ReportLatency> ResultLatencies(JsonElement result, JsonElement? histograms)
    {
        List<ReportLatency> latencies = [];
        foreach ((string field, string name) in (ReadOnlySpan<(string, string)>)
            [("rtt_us", "round_trip"), ("server_us", "server"), ("network_us", "network")])
        {
            if (Part(result, field, ReportJson.Default.ReportFigures) is { } figures)
            {
                ReportHistogram? histogram = histograms is { } all ? Histogram(all, name) : null;
                latencies.Add(new ReportLatency(Shown(name), figures, histogram));
            }
        }

        return latencies;
    }

    // The fields that the file has, then its environment.
    private static List<string[]> Facts(JsonElement root, params ReadOnlySpan<(string Label, string Field)> fields)
    {
        List<string[]> facts = [];
        foreach ((string label, string field) in fields)
        {
            if (root.TryGetProperty(field, out JsonElement value) && value.ValueKind != JsonValueKind.Null)
            {
                facts.Add([label, Fact(value)]);
            }
        }

        if (root.TryGetProperty("environment", out JsonElement environment))
        {
            facts.AddRange(environment.EnumerateObject().Select(static fact => new[] { Shown(fact.Name), fact.Value.ToString() }));
        }

        return facts;
    }

    // A moment with its date and zone.
    private static string Fact(JsonElement value) =>
        value.ValueKind == JsonValueKind.String && value.TryGetDateTimeOffset(out DateTimeOffset moment)
            ? moment.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture)
            : value.ToString();

    private static ReportHistogram? Histogram(JsonElement parent, string name)
    {
        ReportHistogram? histogram = Part(parent, name, ReportJson.Default.ReportHistogram);
        return histogram is null || histogram.Us.Length == histogram.Counts.Length
            ? histogram
            : throw new JsonException($"{name} has {histogram.Us.Length} values and {histogram.Counts.Length} counts.");
    }

    private static ReportTimeline? Timeline(JsonElement root)
    {
        if (Part(root, "timeline", ReportJson.Default.ReportTimeline) is not { } timeline)
        {
            return null;
        }

        foreach (Array? column in (Array?[])[timeline.Seconds, timeline.Messages, timeline.Errors, timeline.P50Us, timeline.P99Us,
            timeline.MaxUs, timeline.Heat])
        {
            if (column is not null && column.Length != timeline.StartS.Length)
            {
                throw new JsonException($"timeline has {timeline.StartS.Length} columns and elsewhere {column.Length}.");
            }
        }

        return timeline.Heat?.Any(static column => column is null || column.Length % 2 != 0) == true
            ? throw new JsonException("timeline has a column of the heat map without pairs of row and count.")
            : timeline;
    }

    private static T? Part<T>(JsonElement parent, string name, JsonTypeInfo<T> type)
        where T : class =>
        parent.TryGetProperty(name, out JsonElement part) && part.ValueKind != JsonValueKind.Null ? part.Deserialize(type) : null;

    private static string Text(JsonElement parent, string name) =>
        parent.GetProperty(name).GetString() ?? throw new InvalidOperationException($"{name} is null.");

    private static string Shown(string name) => name.Replace('_', ' ');
}
