
namespace FastPort.Telemetry.Metering;

/// <summary>
/// One report for all instruments of a collection: they are read one after the other, and a report costs more than all of them. Kept for
/// <see cref="Age"/>, which also bounds the cost of many collectors. Thread-safe.
/// </summary>
internal sealed class SharedReport(LatencyStats latencies)
{
    /// <summary>How long a report is shared.</summary>
    public static readonly TimeSpan Age = TimeSpan.FromMilliseconds(100);

    // Guards the fields below.
    private readonly Lock _gate = new();
    private LatencyReport? _report;
    private long _taken;

    /// <summary>The clock of the reports.</summary>
    public TimeProvider Time => latencies.Time;

    /// <summary>The current figures, or those of less than <see cref="Age"/> ago.</summary>
    public LatencyReport Read()
    {
        lock (_gate)
        {
            if (_report is null || Time.GetElapsedTime(_taken) >= Age)
            {
                // Read before the report: what is recorded in between is not older than this says.
                _taken = Time.GetTimestamp();
                _report = latencies.ReadTotals();
            }

            return _report;
        }
    }
}
