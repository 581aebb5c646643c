using FastPort.Telemetry;

namespace FastPort.Client.Reports;

/// <summary>One latency of a run, in microseconds, as in the JSON result.</summary>
internal sealed record LatencyFigures(
    long Count, double Min, double Avg, double P50, double P90, double P95, double P99, double P999, double Max)
{
    /// <summary>P99 / avg, the stability figure: 1 means that all values are equal. 0 if the average is not positive.</summary>
    public double P99OverAvg => Avg > 0 ? P99 / Avg : 0;

    /// <summary>The figures of a snapshot; null if it is empty.</summary>
    public static LatencyFigures? From(LatencySnapshot s) => s.Count == 0
        ? null
        : new LatencyFigures(
            s.Count, s.Min / 1e3, s.Mean / 1e3, s.P50 / 1e3, s.P90 / 1e3, s.P95 / 1e3, s.P99 / 1e3, s.P999 / 1e3, s.Max / 1e3);
}
