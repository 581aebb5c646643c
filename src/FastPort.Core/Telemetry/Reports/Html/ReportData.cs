using System.Text.Json.Serialization;

namespace FastPort.Telemetry.Reports.Html;

/// <summary>The data that a report's script draws: one measurement, from any kind of JSON file.</summary>
internal sealed record ReportData
{
    public required string Title { get; init; }

    /// <summary>Settings and environment, a label and a value each.</summary>
    public required IReadOnlyList<string[]> Facts { get; init; }

    public required double Seconds { get; init; }

    public required long Messages { get; init; }

    public required double PerS { get; init; }

    public required long Errors { get; init; }

    /// <summary>Messages per second that an open loop requested; null for other measurements.</summary>
    public double? AskedPerS { get; init; }

    /// <summary>What limited the rate; null if the file does not contain it.</summary>
    public string? BoundBy { get; init; }

    /// <summary>The messages that the latencies cover; null for all.</summary>
    public string? LatenciesOf { get; init; }

    /// <summary>Counts that should be 0, besides <see cref="Errors"/>.</summary>
    public IReadOnlyList<ReportCount> Alarms { get; init; } = [];

    /// <summary>The latencies over all messages; empty if the measurement has none.</summary>
    public required IReadOnlyList<ReportLatency> Latencies { get; init; }

    public IReadOnlyList<ReportScope> Types { get; init; } = [];

    /// <summary>The sessions with the highest P99, highest first.</summary>
    public IReadOnlyList<ReportScope> Sessions { get; init; } = [];

    /// <summary>How many sessions were measured.</summary>
    public int SessionsMeasured { get; init; }

    /// <summary>Null in files of schema 1.</summary>
    public ReportTimeline? Timeline { get; init; }
}

/// <summary>A count and its name.</summary>
internal sealed record ReportCount(string Name, long Count);

/// <summary>One message type, one session or one operation.</summary>
internal sealed record ReportScope(
    string Kind, string Name, long Messages, double PerS, long Errors, IReadOnlyList<ReportLatency> Latencies);

/// <summary>One latency.</summary>
/// <param name="Name">Such as "round trip".</param>
/// <param name="Us">Its figures in microseconds, as in the JSON files.</param>
/// <param name="Histogram">Its distribution; null in files of schema 1, and where it is not drawn.</param>
internal sealed record ReportLatency(string Name, ReportFigures Us, ReportHistogram? Histogram = null);

/// <summary>Figures in microseconds.</summary>
internal sealed record ReportFigures(
    [property: JsonRequired] long Count,
    [property: JsonRequired] double Min,
    [property: JsonRequired] double Avg,
    [property: JsonRequired] double P50,
    [property: JsonRequired] double P90,
    [property: JsonRequired] double P95,
    [property: JsonRequired] double P99,
    [property: JsonRequired] double P999,
    [property: JsonRequired] double Max)
{
    /// <summary>P99 / average, the stability figure; 0 if there is no average.</summary>
    public double P99OverAvg => Avg > 0 ? Math.Round(P99 / Avg, 3) : 0;
}

/// <summary>A distribution: for each value in microseconds how often it was measured.</summary>
internal sealed record ReportHistogram([property: JsonRequired] double[] Us, [property: JsonRequired] long[] Counts);

/// <summary>
/// The measured time in columns; see <see cref="DistributionJson.WriteTimeline"/>. Latency fields are absent if none were measured.
/// </summary>
internal sealed record ReportTimeline(
    [property: JsonRequired] double[] StartS,
    [property: JsonRequired] double[] Seconds,
    [property: JsonRequired] long[] Messages,
    [property: JsonRequired] long[] Errors,
    double[]? P50Us = null,
    double[]? P99Us = null,
    double[]? MaxUs = null,
    int RowsPerOctave = 0,
    long[][]? Heat = null);

/// <summary>The two measurements of a comparison, or one.</summary>
/// <param name="Before">Null in a report of one measurement.</param>
/// <param name="After">The measurement.</param>
/// <param name="Differences">The differences in settings and environment, one sentence each.</param>
internal sealed record ReportPage(ReportData? Before, ReportData After, IReadOnlyList<string> Differences);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    RespectNullableAnnotations = true)]
[JsonSerializable(typeof(ReportPage))]
internal sealed partial class ReportJson : JsonSerializerContext;
