namespace FastPort.Benchmarks.Histograms;

/// <summary>
/// What a histogram replaces: the last samples kept under a lock, to be sorted for a report. <see cref="_gate"/> guards all fields.
/// </summary>
internal sealed class LockedSamples
{
    private readonly Lock _gate = new();
    private readonly long[] _samples = new long[10_000];
    private int _next;

    public void Record(long nanoseconds)
    {
        lock (_gate)
        {
            _samples[_next] = nanoseconds;
            _next = _next + 1 == _samples.Length ? 0 : _next + 1;
        }
    }

    /// <summary>The value that 99 % of the samples do not exceed.</summary>
    public long P99()
    {
        long[] sorted;
        lock (_gate)
        {
            sorted = [.. _samples];
        }

        Array.Sort(sorted);
        return sorted[sorted.Length * 99 / 100];
    }
}
