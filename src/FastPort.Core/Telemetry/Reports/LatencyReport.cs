using System.Text.Json;

namespace FastPort.Telemetry;

/// <summary>The figures of <see cref="LatencyStats"/> at one moment, as data for tables, files, pages and exporters. Immutable.</summary>
public sealed class LatencyReport
{
    /// <summary>The end that measured.</summary>
    public required LatencyRole Role { get; init; }

    /// <summary>When the <see cref="LatencyStats"/> was created.</summary>
    public required DateTimeOffset Started { get; init; }

    /// <summary>When the measured time began: <see cref="Started"/>, or the last <see cref="LatencyStats.StartMeasuring"/>.</summary>
    public required DateTimeOffset MeasuringSince { get; init; }

    /// <summary>When this report was created.</summary>
    public required DateTimeOffset Taken { get; init; }

    /// <summary>Where the times of this report end: <see cref="Taken"/>, or <see cref="LatencyStats.StopMeasuring"/> before it.</summary>
    internal DateTimeOffset MeasuredUntil { get; init; }

    /// <summary>Id of the measuring process.</summary>
    public required int ProcessId { get; init; }

    /// <summary>Every message.</summary>
    public required LatencyScopeReport All { get; init; }

    /// <summary>By message type, ascending; without types that have neither messages nor errors.</summary>
    public required IReadOnlyList<LatencyScopeReport> Types { get; init; }

    /// <summary>By measured session, the session with the most messages first.</summary>
    public required IReadOnlyList<LatencyScopeReport> Sessions { get; init; }

    /// <summary>Sessions that ended in the interval and are not in <see cref="Sessions"/>: there were too many.</summary>
    internal long SessionsLeftOut { get; init; }

    /// <summary>By operation of the application, by name; without operations that have neither calls nor errors.</summary>
    public required IReadOnlyList<LatencyScopeReport> Operations { get; init; }

    /// <summary>Counts of the application.</summary>
    internal IReadOnlyList<CountReport> Counts { get; init; } = [];

    /// <summary>The measured time in columns, oldest first; empty in <see cref="LatencyStats.ReadTotals"/>.</summary>
    internal IReadOnlyList<LatencyColumn> Timeline { get; set; } = [];

    /// <summary>Exact figures of the most recent samples; null if there are none.</summary>
    internal LatencyRecentReport? Recent { get; init; }

    /// <summary><see cref="All"/>, then <see cref="Types"/>, then <see cref="Sessions"/>.</summary>
    public IEnumerable<LatencyScopeReport> Scopes => [All, .. Types, .. Sessions];

    /// <summary>
    /// Writes the properties <c>histograms</c> (of each latency over all messages since measuring began) and <c>timeline</c> (the measured
    /// time in at most 600 columns) into an object; docs/latency-reports.md lists their fields. <see cref="HtmlReport"/> draws them.
    /// </summary>
    /// <param name="writer">Positioned within an object; not flushed.</param>
    public void WriteDistributions(Utf8JsonWriter writer)
    {
        ArgumentNullException.ThrowIfNull(writer);
        writer.WriteStartObject("histograms");
        foreach (LatencyMetricReport metric in All.Metrics)
        {
            writer.WritePropertyName(metric.Name);
            DistributionJson.WriteHistogram(writer, metric.Lifetime);
        }

        writer.WriteEndObject();
        writer.WritePropertyName("timeline");
        DistributionJson.WriteTimeline(writer, Timeline);
    }
}

/// <summary>The latencies of all messages, of one message type, of one session or of one operation. Immutable.</summary>
public sealed class LatencyScopeReport
{
    /// <summary>The scope of the figures.</summary>
    internal LatencyScope Scope { get; init; }

    /// <summary>Message type or session id; 0 for all messages and for an operation.</summary>
    public required ulong Key { get; init; }

    /// <summary>The name shown.</summary>
    public required string Name { get; init; }

    /// <summary>Length of the interval.</summary>
    public required TimeSpan Interval { get; init; }

    /// <summary>Time since measuring began; for a session that began later, since its start.</summary>
    public required TimeSpan Lifetime { get; init; }

    /// <summary>Failed messages or calls in the interval.</summary>
    public required long IntervalErrors { get; init; }

    /// <summary>Failed messages or calls since measuring began.</summary>
    public required long LifetimeErrors { get; init; }

    /// <summary>For messages the three latencies: the total, then its two parts. For an operation the latency of its calls.</summary>
    public required IReadOnlyList<LatencyMetricReport> Metrics { get; init; }

    /// <summary>Messages or calls measured in the interval.</summary>
    public long IntervalCount => Metrics[0].Interval.Count;

    /// <summary>Messages or calls measured since measuring began.</summary>
    public long LifetimeCount => Metrics[0].Lifetime.Count;

    /// <summary>Messages or calls per second in the interval; 0 if the interval has no length.</summary>
    public double IntervalRate => Interval > TimeSpan.Zero ? IntervalCount / Interval.TotalSeconds : 0;

    /// <summary>Messages or calls per second since measuring began; 0 if no time has passed.</summary>
    public double LifetimeRate => Lifetime > TimeSpan.Zero ? LifetimeCount / Lifetime.TotalSeconds : 0;
}

/// <summary>One latency over the interval and over the lifetime. Immutable.</summary>
public sealed class LatencyMetricReport
{
    internal LatencyMetricReport(LatencyMetric metric, LatencySnapshot interval, LatencySnapshot lifetime)
    {
        Metric = metric;
        Interval = interval;
        Lifetime = lifetime;
    }

    /// <summary>
    /// Which latency, by its name in files: <c>round_trip</c>, <c>server</c>, <c>network</c> of a client; <c>decode_to_send</c>,
    /// <c>queue</c>, <c>handler</c> of a server; <c>call</c> of an operation.
    /// </summary>
    public string Name => Metric.Name;

    /// <summary>Since the last interval was cut.</summary>
    public LatencySnapshot Interval { get; }

    /// <summary>Since measuring began, the interval included.</summary>
    public LatencySnapshot Lifetime { get; }

    internal LatencyMetric Metric { get; }
}

/// <summary>Exact figures of the recent samples. Immutable.</summary>
internal sealed class LatencyRecentReport
{
    /// <summary>Number of samples.</summary>
    public required int Count { get; init; }

    /// <summary>Time between the oldest and the latest sample.</summary>
    public required TimeSpan Window { get; init; }

    /// <summary>The figures in the order of <see cref="LatencyMetric.Of"/>.</summary>
    public required IReadOnlyList<LatencySummary> Metrics { get; init; }
}
