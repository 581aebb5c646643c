using System.Diagnostics.Metrics;
using FastPort.Telemetry;

namespace FastPort.Core.Tests.Telemetry.Metering;

/// <summary>A server's meter and a listener of its durations.</summary>
internal sealed class CollectedMeter : IDisposable
{
    private readonly FastPortMeter _meter;
    private readonly MeterListener _listener = new();
    private readonly Dictionary<string, double> _values = new(StringComparer.Ordinal);

    public CollectedMeter(LatencyStats stats)
    {
        // Tests run side by side in one process: a name of its own tells this meter apart.
        string name = Guid.NewGuid().ToString();
        _meter = new FastPortMeter(new SessionCounters(), stats, serverName: name);
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Tags?.Any(tag => name.Equals(tag.Value)) == true
                && instrument.Name.Contains(".duration.", StringComparison.Ordinal))
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Keep(instrument, value, tags));
        _listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Keep(instrument, value, tags));
        _listener.Start();
    }

    /// <summary>Collects once: each measurement by instrument and tags.</summary>
    public Dictionary<string, double> Collect()
    {
        _values.Clear();
        _listener.RecordObservableInstruments();
        return new(_values, StringComparer.Ordinal);
    }

    public void Dispose()
    {
        _listener.Dispose();
        _meter.Dispose();
    }

    private void Keep(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        string line = instrument.Name;
        foreach (KeyValuePair<string, object?> tag in tags)
        {
            line += $" {tag.Key}={tag.Value}";
        }

        _values.Add(line, value);
    }
}
