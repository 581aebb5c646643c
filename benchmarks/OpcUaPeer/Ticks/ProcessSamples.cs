using System.Diagnostics;

namespace OpcUaPeer.Ticks;

/// <summary>CPU time and memory of this process, sampled once a second, for one repetition after the other.</summary>
internal sealed class ProcessSamples
{
    private readonly List<double> _cpuShares = [];
    private long _rssOfFirst;
    private long _repetitions;
    private TimeSpan _cpuBegun;
    private TimeSpan _cpuLast;
    private long _begun;
    private long _last;
    private TimeSpan _pausesBegun;

    /// <summary>Shares of a core, one for each second.</summary>
    public IReadOnlyList<double> CpuShares => _cpuShares;

    /// <summary>Share of a core from the beginning to the last sample.</summary>
    public double CpuAverage => Share(_cpuBegun, _cpuLast, _begun, _last);

    public long RssMax { get; private set; }

    /// <summary>By how much the memory is above the most that the first repetition had; 0 in that one.</summary>
    public long RssGrowth => _repetitions > 1 ? RssMax - _rssOfFirst : 0;

    public long HeapMax { get; private set; }

    public TimeSpan Pauses => GC.GetTotalPauseDuration() - _pausesBegun;

    /// <summary>A repetition begins.</summary>
    public void Begin()
    {
        _repetitions++;
        _rssOfFirst = _repetitions == 2 ? RssMax : _rssOfFirst;
        (RssMax, HeapMax) = (0, 0);
        _cpuShares.Clear();
        _pausesBegun = GC.GetTotalPauseDuration();
        _cpuBegun = _cpuLast = Environment.CpuUsage.TotalTime;
        _begun = _last = Stopwatch.GetTimestamp();
    }

    public void Take()
    {
        TimeSpan cpu = Environment.CpuUsage.TotalTime;
        long now = Stopwatch.GetTimestamp();
        _cpuShares.Add(Share(_cpuLast, cpu, _last, now));
        (_cpuLast, _last) = (cpu, now);
        RssMax = Math.Max(RssMax, Environment.WorkingSet);
        HeapMax = Math.Max(HeapMax, GC.GetTotalMemory(forceFullCollection: false));
    }

    private static double Share(TimeSpan from, TimeSpan to, long begun, long ended) =>
        ended > begun ? (to - from) / Stopwatch.GetElapsedTime(begun, ended) : 0;
}
