using System.Diagnostics.Metrics;
using Xunit;

namespace FastPort.Tags.Tests;

public sealed class TagMeterTests
{
    [Fact]
    public async Task What_is_read_cached_written_and_lost_is_counted_by_source()
    {
        Dictionary<string, double> seen = new(StringComparer.Ordinal);
        string name = $"memory-{Guid.NewGuid()}";
        using var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listening) =>
            {
                if (instrument.Name.StartsWith("fastport.tags.", StringComparison.Ordinal))
                {
                    listening.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Keep(instrument.Name, value, tags));
        listener.SetMeasurementEventCallback<int>((instrument, value, tags, _) => Keep(instrument.Name, value, tags));
        listener.Start();
        var memory = new MemoryTagSource(name);
        memory.Add("a", 1, isWritable: true);
        await using TagBridge bridge = await TagBridge.StartAsync(memory);
        await using TagClient client = await bridge.ConnectAsync();

        await client.ReadAsync("a");
        await client.ReadAsync("a", maxAge: TimeSpan.FromHours(1));
        await client.WriteAsync("a", 2);
        memory.IsConnected = false;
        listener.RecordObservableInstruments();

        lock (seen)
        {
            Assert.Equal(1, seen["fastport.tags.read"]);
            Assert.Equal(1, seen["fastport.tags.cached"]);
            Assert.Equal(1, seen["fastport.tags.written"]);
            Assert.Equal(1, seen["fastport.tags.source.losses"]);
            Assert.Equal(0, seen["fastport.tags.source.connected"]);
        }

        void Keep(string instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            lock (seen)
            {
                if (tags[0].Value as string == name)
                {
                    seen[instrument] = value;
                }
            }
        }
    }
}
