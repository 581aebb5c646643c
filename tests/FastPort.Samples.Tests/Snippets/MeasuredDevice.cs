using System.Diagnostics;
using FastPort.Telemetry;

namespace FastPort.Samples.Tests.Snippets;

// docs: device
/// <summary>A device whose reads are in the server's reports.</summary>
internal sealed class MeasuredDevice
{
    private readonly LatencySeries _reads;
    private long _read;
    private long _cached;

    public MeasuredDevice(LatencyStats stats)
    {
        _reads = stats.ForOperation("line1 Read");
        stats.AddCount("line1", "read", () => Read);
        stats.AddCount("line1", "cache_hit_rate", () => Cached, per: () => Cached + Read);
    }

    private long Read => Volatile.Read(ref _read);

    private long Cached => Volatile.Read(ref _cached);

    public void OnCached() => Interlocked.Increment(ref _cached);

    public async Task<double> ReadAsync(Func<Task<double>> read)
    {
        long begun = Stopwatch.GetTimestamp();
        try
        {
            Interlocked.Increment(ref _read);
            return await read();
        }
        catch (IOException)
        {
            _reads.RecordError();
            throw;
        }
        finally
        {
            _reads.RecordCall((long)Stopwatch.GetElapsedTime(begun).TotalNanoseconds);
        }
    }
}

// docs: end
