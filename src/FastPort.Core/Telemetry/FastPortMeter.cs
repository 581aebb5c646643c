using System.Diagnostics.Metrics;
using FastPort.Telemetry.Metering;

namespace FastPort.Telemetry;

/// <summary>Publishes a server's counts and measurements through the <see cref="Meter"/> named <c>FastPort</c>. One per server.</summary>
/// <remarks>
/// All instruments are observable: nothing is done until a listener reads them, and nothing is recorded for them per message. Names, units
/// and tags are stable; docs/metrics.md lists them. Thread-safe.
/// </remarks>
internal sealed class FastPortMeter : IDisposable
{
    /// <summary>Name of the meter.</summary>
    public const string MeterName = "FastPort";

    // Names of the wire protocol's error codes, by code.
    private static readonly string[] ErrorNames =
    [
        "Other", "MalformedFrame", "FrameTooLarge", "UnknownType", "MalformedBody", "Unauthenticated", "Forbidden", "Timeout", "Overloaded",
        "Internal", "ShuttingDown", "DuplicateIdentity", "NotFound", "Unavailable", "ReplyTooLarge",
    ];

    private readonly Meter _meter;

    /// <summary>Creates the meter and its instruments.</summary>
    /// <param name="counters">The counters to publish.</param>
    /// <param name="latencies">The latencies to publish. Defaults to null: none.</param>
    /// <param name="memory">Reads what the connections hold. Defaults to null: not published.</param>
    /// <param name="factory">
    /// Creates and owns the meter. Defaults to null: this object creates a meter, which <see cref="Dispose"/> disposes.
    /// </param>
    /// <param name="serverName">
    /// Tag <c>fastport.server</c> of the meter, which distinguishes the servers of a process. Defaults to null: no tag.
    /// </param>
    /// <param name="certificates">Reads the sources of the TLS certificates and when they expire. Defaults to null: not published.</param>
    /// <param name="bans">Reads the number of bans. Defaults to null: not published.</param>
    public FastPortMeter(
        SessionCounters counters,
        LatencyStats? latencies = null,
        Func<ServerMemory>? memory = null,
        IMeterFactory? factory = null,
        string? serverName = null,
        Func<IEnumerable<(string Source, DateTimeOffset NotAfter)>>? certificates = null,
        Func<int>? bans = null)
    {
        ArgumentNullException.ThrowIfNull(counters);
        _meter = Create(factory, "fastport.server", serverName);
        ObserveTotals(counters);
        ObserveTagged(counters);
        if (memory is not null)
        {
            ObserveMemory(memory);
        }

        if (certificates is not null)
        {
            ObserveCertificates(_meter, certificates);
        }

        if (bans is not null)
        {
            _meter.CreateObservableUpDownCounter("fastport.bans", bans, "{ban}", "Currently banned addresses and identities");
        }

        if (latencies is not null)
        {
            DurationInstruments.Add(_meter, latencies);
        }
    }

    /// <summary>Creates a meter of this library.</summary>
    /// <param name="factory">Creates and owns the meter; null for a meter that the caller disposes.</param>
    /// <param name="key">The meter's tag.</param>
    /// <param name="name">Its value; null for no tag.</param>
    public static Meter Create(IMeterFactory? factory, string key, string? name)
    {
        var options = new MeterOptions(MeterName)
        {
            Version = typeof(FastPortMeter).Assembly.GetName().Version?.ToString(3),
            Tags = name is null ? null : [new KeyValuePair<string, object?>(key, name)],
        };
        return factory is null ? new Meter(options) : factory.Create(options);
    }

    /// <summary>Publishes when certificates expire.</summary>
    public static void ObserveCertificates(Meter meter, Func<IEnumerable<(string Source, DateTimeOffset NotAfter)>> certificates) =>
        meter.CreateObservableGauge(
            "fastport.tls.certificate.expiry",
            () => certificates().Select(static one => new Measurement<double>(
                one.NotAfter.ToUnixTimeMilliseconds() / 1000.0, new KeyValuePair<string, object?>("certificate", one.Source))),
            "s",
            "When the certificate expires, in seconds since 1970");

    /// <summary>Disposes the meter. The factory disposes a meter that it created.</summary>
    public void Dispose() => _meter.Dispose();

    // Zeros too: a counter that first appears with its first event shows no rate for it, and a panel cannot distinguish "none" from
    // "missing".
    private static IEnumerable<Measurement<long>> Tagged(int tags, string key, Func<int, string> name, Func<int, long> count)
    {
        for (var tag = 0; tag < tags; tag++)
        {
            yield return new Measurement<long>(count(tag), new KeyValuePair<string, object?>(key, name(tag)));
        }
    }

    private static IEnumerable<Measurement<long>> ByName<TTag>(string key, Func<TTag, long> count)
        where TTag : struct, Enum
    {
        var tags = Enum.GetValues<TTag>();
        var names = Enum.GetNames<TTag>();
        return Tagged(tags.Length, key, tag => names[tag], tag => count(tags[tag]));
    }

    private static IEnumerable<Measurement<long>> ByRate(SessionCountersSnapshot counts) =>
        from scope in Enum.GetValues<RateScope>()
        from resource in Enum.GetValues<RateResource>()
        select new Measurement<long>(
            counts.RatesExceededFor(scope, resource),
            new KeyValuePair<string, object?>("scope", scope.ToString()),
            new KeyValuePair<string, object?>("resource", resource.ToString()));

    private static IEnumerable<Measurement<long>> ByCode(Func<uint, long> count) =>
        Tagged(ErrorNames.Length, "code", static tag => ErrorNames[tag], tag => count((uint)tag));

    private void ObserveTotals(SessionCounters counters)
    {
        _meter.CreateObservableUpDownCounter(
            "fastport.connections.open", () => counters.Snapshot().ConnectionsOpen, "{connection}", "Open connections");
        _meter.CreateObservableUpDownCounter(
            "fastport.sessions.open", () => counters.Snapshot().SessionsOpen, "{session}", "Open sessions");
        Count("fastport.connections.accepted", "{connection}", "Connections accepted", () => counters.Snapshot().ConnectionsAccepted);
        Count("fastport.accept.errors", "{error}", "Failed accepts", () => counters.Snapshot().AcceptErrors);
        Count("fastport.messages.received", "{message}", "Whole frames received", () => counters.Snapshot().MessagesIn);
        Count("fastport.messages.sent", "{message}", "Whole frames sent", () => counters.Snapshot().MessagesOut);
        Count("fastport.traffic.received", "By", "Bytes received, headers included", () => counters.Snapshot().BytesIn);
        Count("fastport.traffic.sent", "By", "Bytes sent, headers included", () => counters.Snapshot().BytesOut);
        _meter.CreateObservableUpDownCounter(
            "fastport.subscriptions.open", () =>
                counters.Snapshot().SubscriptionsOpen, "{subscription}", "Current topic subscriptions");
        Count("fastport.relays", "{message}", "Relays that the targets' send queues took", () => counters.Snapshot().Relayed);
        Count("fastport.relays.waited", "{message}", "How often a full target delayed a relay", () =>
            counters.Snapshot().RelaysWaited);
        Count("fastport.publications", "{message}", "Publish messages", () => counters.Snapshot().Published);
        Count("fastport.deliveries", "{message}", "Send queues that took a Publish message", () => counters.Snapshot().Delivered);
        _meter.CreateObservableUpDownCounter(
            "fastport.streams.open", () => counters.Snapshot().StreamsOpen, "{stream}", "Open streams");
        Count("fastport.streams.opened", "{stream}", "Streams opened, by either side", () => counters.Snapshot().StreamsOpened);
        Count("fastport.streams.items.received", "{item}", "Items of streams received", () => counters.Snapshot().StreamItemsIn);
        Count("fastport.streams.items.sent", "{item}", "Items of streams sent", () => counters.Snapshot().StreamItemsOut);
        Count("fastport.streams.stalls", "{stall}", "How often a stream waited for its peer's credit", () =>
            counters.Snapshot().StreamStalls);
        Count("fastport.replies.unmatched", "{reply}", "Replies without a matching request", () => counters.Snapshot().RepliesToNothing);
    }

    private void ObserveTagged(SessionCounters counters)
    {
        CountTagged(
            "fastport.connections.rejected",
            "{connection}",
            "Connections rejected",
            () => ByName<ConnectionRejection>("reason", counters.Snapshot().ConnectionsRejectedFor));
        CountTagged(
            "fastport.frames.dropped", "{frame}", "Frames dropped", () =>
                ByName<FrameDrop>("reason", counters.Snapshot().FramesDroppedFor));
        CountTagged(
            "fastport.timeouts",
            "{connection}",
            "Connections closed by a deadline",
            () => ByName<ConnectionTimeout>("kind", counters.Snapshot().TimeoutsClosedBy));
        CountTagged(
            "fastport.relays.failed",
            "{message}",
            "Relays that did not reach their targets",
            () => ByName<RelayFailure>("reason", counters.Snapshot().RelaysFailedFor));
        CountTagged(
            "fastport.rates.exceeded", "{occurrence}", "How often sessions or new connections were over a rate", () =>
                ByRate(counters.Snapshot()));
        CountTagged("fastport.errors.sent", "{error}", "Error frames sent", () => ByCode(counters.Snapshot().ErrorsSentWith));
        CountTagged(
            "fastport.oneway.failures", "{message}", "One-way messages that failed", () => ByCode(counters.Snapshot().OneWayFailuresWith));
    }

    private void Count(string name, string unit, string description, Func<long> count) =>
        _meter.CreateObservableCounter(name, count, unit, description);

    private void CountTagged(string name, string unit, string description, Func<IEnumerable<Measurement<long>>> counts) =>
        _meter.CreateObservableCounter(name, counts, unit, description);

    private void ObserveMemory(Func<ServerMemory> memory)
    {
        _meter.CreateObservableUpDownCounter(
            "fastport.send_queues.size", () => memory().SendQueueBytes, "By", "Bytes that wait in send queues for their peers");
        _meter.CreateObservableUpDownCounter(
            "fastport.memory.used", () => memory().UsedBytes, "By", "Bytes taken from the memory budget");
        _meter.CreateObservableUpDownCounter("fastport.memory.limit", () => memory().LimitBytes, "By", "The memory budget");
    }
}
