using System.Diagnostics;

namespace PeerSupport;

/// <summary>CPU time and memory of this process or another one.</summary>
public static class ProcessFigures
{
    /// <summary>User and system time of this process.</summary>
    public static TimeSpan OwnCpu => Environment.CpuUsage.TotalTime;

    /// <summary>User and system time of a process.</summary>
    public static TimeSpan Cpu(int processId)
    {
        using Process process = Find(processId);
        return process.TotalProcessorTime;
    }

    /// <summary>The largest resident memory a process has had.</summary>
    public static long PeakKilobytes(int processId)
    {
        using Process process = Find(processId);
        return process.PeakWorkingSet64 / 1024;
    }

    private static Process Find(int processId)
    {
        try
        {
            return Process.GetProcessById(processId);
        }
        catch (ArgumentException e)
        {
            throw new PeerException($"There is no process {processId}.", e);
        }
    }
}
