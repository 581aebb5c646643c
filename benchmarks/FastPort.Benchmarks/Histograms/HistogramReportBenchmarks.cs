using BenchmarkDotNet.Attributes;
using FastPort.Telemetry;

namespace FastPort.Benchmarks.Histograms;

/// <summary>A percentile asked of 10,000 latencies: what a report costs the process that makes it.</summary>
public class HistogramReportBenchmarks
{
    private readonly LockedSamples _samples = new();
    private readonly StripedLatencyHistogram _striped = new();

    [GlobalSetup]
    public void Setup()
    {
        foreach (long value in LatencyValues.Make(10_000))
        {
            _samples.Record(value);
            _striped.Record(value);
        }
    }

    [Benchmark(Baseline = true)]
    public long Locked_samples() => _samples.P99();

    [Benchmark]
    public long StripedLatencyHistogram() => _striped.Snapshot().P99;
}
