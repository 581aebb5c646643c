using BenchmarkDotNet.Attributes;
using FastPort.Telemetry;

namespace FastPort.Benchmarks.Histograms;

/// <summary>One latency recorded while another thread records too; the time is per record, whichever thread makes it.</summary>
public class SharedHistogramRecordBenchmarks
{
    private const int Threads = 2;
    private const int Values = 65_536;

    private readonly long[] _values = LatencyValues.Make(Values);
    private readonly LockedSamples _samples = new();
    private readonly Lock _gate = new();
    private readonly LatencyHistogram _histogram = new();
    private readonly StripedLatencyHistogram _striped = new();
    private ThreadTeam _team = null!;

    [GlobalSetup]
    public void Setup() => _team = new ThreadTeam(Threads);

    [GlobalCleanup]
    public void Cleanup() => _team.Dispose();

    [Benchmark(Baseline = true, OperationsPerInvoke = Threads * Values)]
    public void Locked_samples() => _team.Run(() =>
    {
        foreach (long value in _values)
        {
            _samples.Record(value);
        }
    });

    [Benchmark(OperationsPerInvoke = Threads * Values)]
    public void Locked_LatencyHistogram() => _team.Run(() =>
    {
        foreach (long value in _values)
        {
            lock (_gate)
            {
                _histogram.Record(value);
            }
        }
    });

    [Benchmark(OperationsPerInvoke = Threads * Values)]
    public void StripedLatencyHistogram() => _team.Run(() =>
    {
        foreach (long value in _values)
        {
            _striped.Record(value);
        }
    });
}
