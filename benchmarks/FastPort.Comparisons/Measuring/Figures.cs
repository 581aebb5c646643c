using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>What one run has measured: values by <see cref="Metric"/>.</summary>
internal sealed class Figures
{
    private readonly Dictionary<string, double> _values = new(StringComparer.Ordinal);

    /// <summary>The values by the metrics' keys.</summary>
    public IReadOnlyDictionary<string, double> Values => _values;

    /// <summary>A metric's value; NaN where the run has none. Setting NaN or null sets nothing.</summary>
    public double? this[Metric metric]
    {
        get => _values.TryGetValue(metric.Key, out double value) ? value : double.NaN;
        set
        {
            if (value is { } number && !double.IsNaN(number))
            {
                _values[metric.Key] = number;
            }
        }
    }

    public static Figures Of(LoadResult run) => new()
    {
        [Metric.Messages] = run.Messages,
        [Metric.Seconds] = run.Seconds,
        [Metric.Throughput] = run.MessagesPerS,
        [Metric.ServerCpuPerMessage] = run.ServerCpuUsPerMessage,
        [Metric.ClientCpuPerMessage] = run.Messages > 0 ? run.ClientCpuS * 1e6 / run.Messages : null,
        [Metric.RoundTripP50] = run.P50Us,
        [Metric.RoundTripP95] = run.P95Us,
        [Metric.RoundTripP99] = run.P99Us,
        [Metric.RoundTripP999] = run.P999Us,
        [Metric.RoundTripMax] = run.MaxUs,
        [Metric.ServerCpuShare] = run.ServerCpuS / run.Seconds,
        [Metric.ClientCpuShare] = run.ClientCpuS / run.Seconds,
        [Metric.OtherCpuShare] = run.OtherCpuS / run.Seconds,
        [Metric.BridgeCpuPerMessage] = run.BridgeCpuS * 1e6 / run.Messages,
        [Metric.BridgeCpuShare] = run.BridgeCpuS / run.Seconds,
        [Metric.SourceReads] = run.SourceReads / run.Seconds,
        [Metric.OldestValue] = run.OldestValueMs,
        [Metric.MissedRequests] = run.Missed,
        [Metric.LateRequests] = run.Late,
        [Metric.ServerPeakRss] = run.ServerPeakRssKb / 1024.0,
        [Metric.ClientPeakRss] = run.ClientPeakRssKb / 1024.0,
    };
}
