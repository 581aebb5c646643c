using System.Diagnostics.Metrics;
using FastPort.Telemetry;
using FastPort.Telemetry.Metering;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed class FastPortMeterTests
{
    [Fact]
    public void Counters_are_published_under_their_names_and_tags()
    {
        var counters = new SessionCounters();
        using var meter = new FastPortMeter(counters, serverName: "published");
        using var listener = new Listener("published");
        counters.Connections.Accepted();
        counters.Connections.Accepted();
        counters.Connections.Closed();
        counters.SessionOpened();
        counters.Received(7, 700);
        counters.Sent(6, 600);
        counters.Connections.Rejected(ConnectionRejection.ConnectionLimit);
        counters.FramesDropped(FrameDrop.SendQueueFull, 3);
        counters.TimeoutClosed(ConnectionTimeout.Write);
        counters.ErrorSent(9);
        counters.ErrorSent(99);
        counters.OneWayFailed(3);
        counters.ReplyToNothing();
        counters.Connections.AcceptFailed();
        counters.Relayed();
        counters.RelayWaited();
        counters.RelayFailed(RelayFailure.NotFound);
        counters.Published(5);
        counters.Published(0);
        counters.Subscribed(4);
        counters.Subscribed(-1);
        counters.StreamOpened();
        counters.StreamOpened();
        counters.StreamEnded();
        counters.Streamed(itemsIn: 3, itemsOut: 4, stalls: 2);

        Assert.Equal(
            [
                "fastport.accept.errors 1",
                "fastport.connections.accepted 2",
                "fastport.connections.open 1",
                "fastport.connections.rejected reason=ConnectionLimit 1",
                "fastport.deliveries 5",
                "fastport.errors.sent code=Internal 1",
                "fastport.errors.sent code=Other 1",
                "fastport.frames.dropped reason=SendQueueFull 3",
                "fastport.messages.received 7",
                "fastport.messages.sent 6",
                "fastport.oneway.failures code=UnknownType 1",
                "fastport.publications 2",
                "fastport.relays 1",
                "fastport.relays.failed reason=NotFound 1",
                "fastport.relays.waited 1",
                "fastport.replies.unmatched 1",
                "fastport.sessions.open 1",
                "fastport.streams.items.received 3",
                "fastport.streams.items.sent 4",
                "fastport.streams.open 1",
                "fastport.streams.opened 2",
                "fastport.streams.stalls 2",
                "fastport.subscriptions.open 3",
                "fastport.timeouts kind=Write 1",
                "fastport.traffic.received 700",
                "fastport.traffic.sent 600",
            ],
            listener.Observe());
    }

    [Fact]
    public void What_the_connections_hold_is_published()
    {
        using var meter = new FastPortMeter(new SessionCounters(), memory: static () => new ServerMemory(1, 2, 3), serverName: "memory");
        using var listener = new Listener("memory");

        Assert.Equal(["fastport.memory.limit 3", "fastport.memory.used 2", "fastport.send_queues.size 1"], listener.Observe());
    }

    [Fact]
    public void A_factory_makes_the_meter_when_there_is_one()
    {
        using var factory = new Factory();
        using var meter = new FastPortMeter(new SessionCounters(), factory: factory);

        Assert.Equal("FastPort", Assert.Single(factory.Made).Name);
    }

    [Fact]
    public void Nothing_is_published_after_dispose()
    {
        var counters = new SessionCounters();
        using var listener = new Listener("disposed");
        new FastPortMeter(counters, serverName: "disposed").Dispose();
        counters.Connections.Accepted();

        Assert.Empty(listener.Observe());
    }

    /// <summary>Listens to the meter of one server: tests run side by side in one process.</summary>
    private sealed class Listener : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly List<string> _counts = [];

        public Listener(string server)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Tags?.Any(tag => server.Equals(tag.Value)) == true)
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            };
            _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => _counts.Add(Line(instrument, value, tags)));
            _listener.Start();
        }

        public IEnumerable<string> Observe()
        {
            _counts.Clear();
            _listener.RecordObservableInstruments();

            // Instruments without an event say 0.
            return _counts.Where(static line => !line.EndsWith(" 0", StringComparison.Ordinal)).Order(StringComparer.Ordinal);
        }

        public void Dispose() => _listener.Dispose();

        private static string Line(Instrument instrument, object value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            var line = instrument.Name;
            foreach (var tag in tags)
            {
                line += $" {tag.Key}={tag.Value}";
            }

            return $"{line} {value}";
        }
    }

    private sealed class Factory : IMeterFactory
    {
        public List<Meter> Made { get; } = [];

        public Meter Create(MeterOptions options)
        {
            Made.Add(new Meter(options));
            return Made[^1];
        }

        public void Dispose() => Made.ForEach(static meter => meter.Dispose());
    }
}
