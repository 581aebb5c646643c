namespace FastPort.Dashboard.Live;

/// <summary>The busy share of event loops and of the process's processors, from one reading to the next. Used by one thread.</summary>
internal sealed class LoadSampler
{
    private IReadOnlyList<TimeSpan> _idle = [];
    private TimeSpan _cpu = Environment.CpuUsage.TotalTime;

    /// <summary>The busy share of each loop, 0 to 1; empty on transports without event loops.</summary>
    public IReadOnlyList<double> BusyLoops(ServerLoad load, TimeSpan elapsed)
    {
        IReadOnlyList<TimeSpan> before = _idle;
        _idle = load.LoopIdleTimes;

        // Loops that have started in between have no share yet.
        return before.Count != _idle.Count || elapsed <= TimeSpan.Zero
            ? [.. _idle.Select(static _ => 0.0)]
            : [.. _idle.Select((idle, loop) => Math.Round(Math.Clamp(1 - (idle - before[loop]) / elapsed, 0, 1), 3))];
    }

    /// <summary>Processors that the process has used: 1.5 are one and a half.</summary>
    public double? Processors(TimeSpan elapsed)
    {
        if (OperatingSystem.IsBrowser() || OperatingSystem.IsIOS() || OperatingSystem.IsTvOS())
        {
            return null;
        }

        TimeSpan before = _cpu;
        _cpu = Environment.CpuUsage.TotalTime;
        return elapsed <= TimeSpan.Zero ? null : Math.Round((_cpu - before) / elapsed, 2);
    }
}
