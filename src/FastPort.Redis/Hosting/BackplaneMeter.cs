using System.Diagnostics.Metrics;

namespace FastPort.Redis.Hosting;

/// <summary>Publishes a node's exchange with the others through meter <c>FastPort</c>. Nothing is done until it is read.</summary>
internal sealed class BackplaneMeter : IDisposable
{
    /// <summary>Name of the meter.</summary>
    public const string MeterName = "FastPort";

    private readonly Meter _meter;

    public BackplaneMeter(RedisBackplane backplane, IMeterFactory? factory)
    {
        KeyValuePair<string, object?>[] tags = [new("fastport.node", backplane.Node)];
        _meter = factory?.Create(new MeterOptions(MeterName) { Tags = tags }) ?? new Meter(MeterName, null, tags);
        Gauge("fastport.backplane.connected", "{lease}", "1 while the node has its lease", () => backplane.IsConnected ? 1 : 0);
        Gauge("fastport.backplane.nodes", "{node}", "Nodes that have leases", () => backplane.Nodes.Count);
        Gauge("fastport.backplane.ids", "{id}", "Routing ids of this node", () => backplane.Running?.Directory.Count ?? 0);
        Gauge(
            "fastport.backplane.relays.pending", "{relay}", "Relay requests waiting for other nodes",
            () => backplane.Running?.Transport.Pending.Count ?? 0);
        Gauge(
            "fastport.backplane.queued", "By", "Bytes of relays waiting to be sent to other nodes, or to their targets on this node",
            () => backplane.Running?.QueuedBytes ?? 0);
        Gauge("fastport.backplane.topics.own", "{prefix}", "Topic prefixes wanted on this node", () => backplane.Interests.Count);
        Gauge(
            "fastport.backplane.topics.others", "{prefix}", "Topic prefixes wanted by other nodes, counted once per node",
            () => backplane.Running?.Topics.Others.Count ?? 0);
        Counter("fastport.backplane.batches", "{batch}", "Batches sent", static c => c.Batches);
        Counter("fastport.backplane.batch_bytes", "By", "Bytes of batches sent", static c => c.BatchBytes);
        Counter("fastport.backplane.relays.sent", "{relay}", "Relays sent to other nodes", static c => c.Sent);
        Counter("fastport.backplane.relays.received", "{relay}", "Relays received from other nodes", static c => c.Received);
        Counter("fastport.backplane.relays.forwarded", "{relay}", "Relays forwarded as their target had moved", static c => c.Forwarded);
        Counter("fastport.backplane.relays.lost", "{relay}", "One-way relays that may be lost", static c => c.LostOneWays);
        Counter(
            "fastport.backplane.publications.sent", "{publication}", "Publications sent to other nodes, counted once per node",
            static c => c.PublicationsSent);
        Counter(
            "fastport.backplane.publications.received",
            "{publication}",
            "Publications received from other nodes",
            static c => c.PublicationsReceived);
        Counter(
            "fastport.backplane.publications.lost", "{publication}", "Publications wanted by another node that may be lost",
            static c => c.LostPublications);
        Counter(
            "fastport.backplane.topics.refused", "{prefix}", "Topic prefixes wanted by another node beyond the limit of one node",
            static c => c.RefusedInterests);
        Counter("fastport.backplane.lookups", "{lookup}", "Lookups of routing ids at Redis", static c => c.Lookups);
        Counter("fastport.backplane.ignored", "{message}", "Batches and entries that were not understood", static c => c.Unknown);

        void Gauge(string name, string unit, string description, Func<long> read) =>
            _meter.CreateObservableGauge(name, read, unit, description);

        void Counter(string name, string unit, string description, Func<Relaying.BackplaneCounters, long> read) =>
            _meter.CreateObservableCounter(
                name, () => backplane.Running is { } running ? read(running.Transport.Counters) : 0, unit, description);
    }

    public void Dispose() => _meter.Dispose();
}
