using BenchmarkDotNet.Attributes;
using FastPort.Telemetry;
using HdrHistogram;

namespace FastPort.Benchmarks.Histograms;

/// <summary>One latency recorded, by one thread.</summary>
public class HistogramRecordBenchmarks
{
    private const int Values = 4096;

    private readonly long[] _values = LatencyValues.Make(Values);
    private readonly LockedSamples _samples = new();
    private readonly LatencyHistogram _histogram = new();
    private readonly StripedLatencyHistogram _striped = new();
    private readonly LongHistogram _hdr = new(FastPort.Telemetry.LatencyHistogram.HighestTrackable, 3);

    [Benchmark(Baseline = true, OperationsPerInvoke = Values)]
    public void Locked_samples()
    {
        foreach (long value in _values)
        {
            _samples.Record(value);
        }
    }

    [Benchmark(OperationsPerInvoke = Values)]
    public void LatencyHistogram()
    {
        foreach (long value in _values)
        {
            _histogram.Record(value);
        }
    }

    [Benchmark(OperationsPerInvoke = Values)]
    public void HdrHistogram_LongHistogram()
    {
        foreach (long value in _values)
        {
            _hdr.RecordValue(value);
        }
    }

    [Benchmark(OperationsPerInvoke = Values)]
    public void StripedLatencyHistogram()
    {
        foreach (long value in _values)
        {
            _striped.Record(value);
        }
    }
}
