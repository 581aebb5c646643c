using System.Globalization;
using System.Runtime.InteropServices;

namespace FastPort.Comparisons.Reports;

/// <summary>Where the figures come from.</summary>
internal sealed record MachineInfo
{
    public required string Cpu { get; init; }

    public required int CpuCount { get; init; }

    public required string Hypervisor { get; init; }

    public required double MemoryGb { get; init; }

    public required string Os { get; init; }

    public required string Kernel { get; init; }

    public required string Runtime { get; init; }

    /// <summary>What the kernel uses for TCP where nobody sets another; empty where that cannot be told.</summary>
    public string CongestionControl { get; init; } = "";

    /// <summary>Versions of what is compared with, in one line.</summary>
    public string Peers { get; init; } = "";

    /// <summary>Load of the last minute before the run: other work on the machine makes every figure noisy.</summary>
    public required double LoadAverageBefore { get; init; }

    public static MachineInfo Read() => new()
    {
        Cpu = Value("/proc/cpuinfo", "model name") ?? RuntimeInformation.ProcessArchitecture.ToString(),
        CpuCount = Environment.ProcessorCount,
        Hypervisor = (Value("/proc/cpuinfo", "flags") ?? "").Split(' ').Contains("hypervisor", StringComparer.Ordinal)
            ? "virtual machine"
            : "none seen",
        MemoryGb = Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 1e9, 1),
        Os = RuntimeInformation.OSDescription,
        Kernel = Environment.OSVersion.Version.ToString(),
        Runtime = RuntimeInformation.FrameworkDescription,
        CongestionControl = ReadCongestionControl() ?? "",
        LoadAverageBefore = LoadAverage(),
    };

    /// <summary>The system's congestion control; null where it cannot be told.</summary>
    public static string? ReadCongestionControl()
    {
        const string File = "/proc/sys/net/ipv4/tcp_congestion_control";
        return System.IO.File.Exists(File) ? System.IO.File.ReadAllText(File).Trim() : null;
    }

    private static double LoadAverage() =>
        File.Exists("/proc/loadavg") ? double.Parse(File.ReadAllText("/proc/loadavg").Split(' ')[0], CultureInfo.InvariantCulture) : 0;

    private static string? Value(string file, string key)
    {
        if (!File.Exists(file))
        {
            return null;
        }

        string? line = File.ReadLines(file).FirstOrDefault(candidate => candidate.StartsWith(key, StringComparison.Ordinal));
        return line?[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim();
    }
}
