using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>Puts servers and load client on cores of their own, so that the scheduler's choices are not part of the result.</summary>
internal sealed class CpuPinning
{
    private readonly string? _taskset;

    private CpuPinning(string? taskset, int? serverCore, int? clientCore, string? note)
    {
        _taskset = taskset;
        ServerCore = serverCore;
        ClientCore = clientCore;
        Note = note;
    }

    /// <summary>Whether server and load client have cores of their own.</summary>
    public bool IsPinned => _taskset is not null;

    /// <summary>Core of the servers; null where nothing is pinned.</summary>
    public int? ServerCore { get; }

    /// <summary>Core of the load client; null where nothing is pinned.</summary>
    public int? ClientCore { get; }

    /// <summary>Why nothing is pinned, or null.</summary>
    public string? Note { get; }

    public static CpuPinning Detect()
    {
        string? taskset = ProgramLocator.FindTool("taskset");
        if (taskset is null)
        {
            return new CpuPinning(null, null, null, "taskset is missing (package util-linux): server and load client are not pinned to cores");
        }

        List<int> cores = AllowedCores();
        return cores.Count < 2
            ? new CpuPinning(null, null, null, $"{cores.Count} core(s) may be used, 2 are needed: server and load client are not pinned")
            : new CpuPinning(taskset, cores[0], cores[1], null);
    }

    /// <summary>The command that runs another one on a core.</summary>
    public IReadOnlyList<string> On(int? core, IReadOnlyList<string> command) =>
        _taskset is null || core is null ? command : [_taskset, "-c", core.Value.ToString(CultureInfo.InvariantCulture), .. command];

    // The kernel's list, such as 0-3,8: a container may leave out the first cores.
    private static List<int> AllowedCores()
    {
        const string Key = "Cpus_allowed_list:";
        string list = File.Exists("/proc/self/status")
            ? File.ReadLines("/proc/self/status").FirstOrDefault(line => line.StartsWith(Key, StringComparison.Ordinal)) ?? Key
            : Key;
        var cores = new List<int>();
        foreach (string range in list[Key.Length..].Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            string[] ends = range.Split('-');
            int first = int.Parse(ends[0], CultureInfo.InvariantCulture);
            int last = int.Parse(ends[^1], CultureInfo.InvariantCulture);
            cores.AddRange(Enumerable.Range(first, last - first + 1));
        }

        return cores;
    }
}
