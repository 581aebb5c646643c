using System.Diagnostics.Metrics;

namespace FastPort.Telemetry.Metering;

/// <summary>
/// Publishes a client's counts through the meter <c>FastPort</c>. One per client of a host. All instruments are observable: they cost
/// nothing until a listener reads them. Thread-safe.
/// </summary>
internal sealed class ClientMeter : IDisposable
{
    private readonly Meter _meter;

    /// <summary>Creates the meter and its instruments.</summary>
    /// <param name="counters">The client's counters.</param>
    /// <param name="outstanding">Returns the number of requests without an answer yet.</param>
    /// <param name="latencies">The latencies that the application measures with the client; null for none.</param>
    /// <param name="factory">Creates and owns the meter. Null: this object creates one.</param>
    /// <param name="clientName">Tag <c>fastport.client</c> of the meter; null for no tag.</param>
    public ClientMeter(
        SessionCounters counters, Func<int> outstanding, LatencyStats? latencies, IMeterFactory? factory, string? clientName)
    {
        _meter = FastPortMeter.Create(factory, "fastport.client", clientName);
        _meter.CreateObservableUpDownCounter(
            "fastport.client.sessions.open", () => counters.Snapshot().SessionsOpen, "{session}", "1 while the client is connected");
        _meter.CreateObservableUpDownCounter(
            "fastport.client.requests.outstanding", outstanding, "{request}", "Requests without an answer yet");
        _meter.CreateObservableUpDownCounter(
            "fastport.client.streams.open", () => counters.Snapshot().StreamsOpen, "{stream}", "Open streams");
        Count("streams.opened", "{stream}", "Streams opened, by either side", static all => all.StreamsOpened);
        Count("streams.items.received", "{item}", "Items of streams received", static all => all.StreamItemsIn);
        Count("streams.items.sent", "{item}", "Items of streams sent", static all => all.StreamItemsOut);
        Count("streams.stalls", "{stall}", "How often a stream waited for its peer's credit", static all => all.StreamStalls);
        Count("sessions.opened", "{session}", "Sessions opened; each but the first is a reconnection", static all => all.SessionsOpened);
        Count("messages.received", "{message}", "Whole frames received", static all => all.MessagesIn);
        Count("messages.sent", "{message}", "Whole frames sent", static all => all.MessagesOut);
        Count("traffic.received", "By", "Bytes received, headers included", static all => all.BytesIn);
        Count("traffic.sent", "By", "Bytes sent, headers included", static all => all.BytesOut);
        Count(
            "publications.dropped", "{message}", "Published messages dropped because the reader of a stream is too slow",
            static all => all.PublicationsDropped);
        Count("replies.unmatched", "{reply}", "Replies without a matching request", static all => all.RepliesToNothing);
        Count("timeouts", "{connection}", "Connections closed by a deadline", static all => all.TimeoutsClosed);
        if (latencies is not null)
        {
            DurationInstruments.Add(_meter, latencies);
        }

        void Count(string name, string unit, string description, Func<SessionCountersSnapshot, long> count) =>
            _meter.CreateObservableCounter($"fastport.client.{name}", () => count(counters.Snapshot()), unit, description);
    }

    /// <summary>Disposes the meter. The factory disposes a meter that it created.</summary>
    public void Dispose() => _meter.Dispose();
}
