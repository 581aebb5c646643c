using System.Diagnostics.Metrics;

namespace FastPort.Telemetry.Metering;

/// <summary>
/// Publishes latencies as instruments that are read from <see cref="LatencyStats"/> when a listener collects: number, sum and percentiles
/// of each latency, by message type and by operation.
/// </summary>
/// <remarks>
/// .NET has no observable histogram. An ordinary one would count every message a second time; see docs/decisions/0035.
/// </remarks>
internal static class DurationInstruments
{
    private const double SecondsPerNanosecond = 1e-9;

    private static readonly (string Tag, double Percent)[] Quantiles =
        [("0.5", 50), ("0.9", 90), ("0.99", 99), ("0.999", 99.9), ("max", 100)];

    /// <summary>Adds the instruments to a meter.</summary>
    /// <param name="meter">The meter.</param>
    /// <param name="latencies">What they read.</param>
    public static void Add(Meter meter, LatencyStats latencies)
    {
        var readings = new SharedReport(latencies);
        DurationNames[] names = DurationNames.Of(latencies.Role);
        for (var metric = 0; metric < names.Length; metric++)
        {
            Add(meter, readings, names[metric], DurationNames.TypeKey, "{message}", static report => report.Types, metric);
        }

        Add(meter, readings, DurationNames.Operation, DurationNames.OperationKey, "{call}", static report => report.Operations, metric: 0);
    }

    private static void Add(
        Meter meter,
        SharedReport reports,
        DurationNames names,
        string key,
        string unit,
        Func<LatencyReport, IReadOnlyList<LatencyScopeReport>> scopes,
        int metric)
    {
        var windows = new LatencyWindows(reports.Time);
        meter.CreateObservableCounter(
            $"{names.Name}.count", () => Each(static lifetime => lifetime.Count), unit, $"Number of: {names.Description}");
        meter.CreateObservableCounter(
            $"{names.Name}.sum",
            () => Each(static lifetime => (double)lifetime.Sum * SecondsPerNanosecond),
            "s",
            $"Sum of: {names.Description}");
        meter.CreateObservableGauge(
            $"{names.Name}.quantile", ReadQuantiles, "s", $"Percentiles of the last minute: {names.Description}");

        IEnumerable<Measurement<T>> Each<T>(Func<LatencySnapshot, T> read)
            where T : struct => scopes(reports.Read()).Select(scope => new Measurement<T>(
                read(scope.Metrics[metric].Lifetime), new KeyValuePair<string, object?>(key, scope.Name)));

        // A type without a message in the window has no percentiles; 0 would be a wrong figure.
        IEnumerable<Measurement<double>> ReadQuantiles() => windows.Read(scopes(reports.Read()), metric)
            .Where(static one => one.Recent.Count != 0)
            .SelectMany(one => Quantiles, (one, quantile) => new Measurement<double>(
                one.Recent.GetPercentile(quantile.Percent) * SecondsPerNanosecond,
                new KeyValuePair<string, object?>(key, one.Name),
                new KeyValuePair<string, object?>("quantile", quantile.Tag)));
    }
}
