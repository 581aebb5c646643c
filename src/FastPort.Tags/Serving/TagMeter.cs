using System.Diagnostics.Metrics;

namespace FastPort.Tags.Serving;

/// <summary>
/// Publishes a tag server's counts through the meter <c>FastPort</c>, by source. Observable: nothing is done until a listener reads. The
/// time of the sources' calls is in the latency statistics, which the server's meter publishes as operations.
/// </summary>
internal sealed class TagMeter : IDisposable
{
    private const string SourceKey = "fastport.tags.source";

    private readonly Meter _meter = new("FastPort", typeof(TagMeter).Assembly.GetName().Version?.ToString(3));

    public TagMeter(IReadOnlyList<ServedSource> sources)
    {
        Observe("fastport.tags.read", "Tags that were read from their source", static telemetry => telemetry.TagsRead);
        Observe("fastport.tags.cached", "Tags that the cache answered", static telemetry => telemetry.FromCache);
        Observe("fastport.tags.joined", "Tags answered by a read that another request had asked for", static telemetry => telemetry.Joined);
        Observe("fastport.tags.written", "Tags that were written to their source", static telemetry => telemetry.TagsWritten);
        Observe("fastport.tags.dropped", "Samples dropped because a subscriber was too slow", static telemetry => telemetry.Dropped);
        Observe(
            "fastport.tags.source.losses", "How often a source has lost its connection", static telemetry => telemetry.Losses, "{loss}");
        _meter.CreateObservableUpDownCounter(
            "fastport.tags.source.connected",
            () => sources.Select(static source => new Measurement<int>(source.Source.IsConnected ? 1 : 0, Tag(source))),
            "{source}",
            "1 for a source that is connected");

        void Observe(string name, string description, Func<SourceTelemetry, long> count, string unit = "{tag}") =>
            _meter.CreateObservableCounter(
                name, () => sources.Select(source => new Measurement<long>(count(source.Telemetry), Tag(source))), unit, description);
    }

    public void Dispose() => _meter.Dispose();

    private static KeyValuePair<string, object?> Tag(ServedSource source) => new(SourceKey, source.Source.Name);
}
