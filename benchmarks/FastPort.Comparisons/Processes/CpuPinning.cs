using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>Puts servers and load client on cores of their own, so that the scheduler's choices are not part of the result.</summary>
internal sealed class CpuPinning
{
    private readonly string? _taskset;
    private readonly IReadOnlyList<int> _cores;

    private CpuPinning(string? taskset, IReadOnlyList<int> cores, string? note)
    {
        _taskset = taskset;
        _cores = cores;
        Note = note;
    }

    /// <summary>Whether server and load client have cores of their own.</summary>
    public bool IsPinned => _taskset is not null;

    /// <summary>Core of the servers; null where nothing is pinned.</summary>
    public int? ServerCore => _cores.Count > 0 ? _cores[0] : null;

    /// <summary>Core of the load client; null where nothing is pinned.</summary>
    public int? ClientCore => _cores.Count > 1 ? _cores[1] : null;

    /// <summary>Why nothing is pinned, or null.</summary>
    public string? Note { get; }

    public static CpuPinning Detect()
    {
        string? taskset = ProgramLocator.FindTool("taskset");
        if (taskset is null)
        {
            return new CpuPinning(null, [], "taskset is missing (package util-linux): server and load client are not pinned to cores");
        }

        List<int> cores = AllowedCores();
        return cores.Count < 2
            ? new CpuPinning(null, [], $"{cores.Count} core(s) may be used, 2 are needed: server and load client are not pinned")
            : new CpuPinning(taskset, cores, null);
    }

    /// <summary>The servers' core; none where nothing is pinned.</summary>
    public IReadOnlyList<int> Server => ServerCore is { } core ? [core] : [];

    /// <summary>The load client's core; none where nothing is pinned.</summary>
    public IReadOnlyList<int> Client => ClientCore is { } core ? [core] : [];

    /// <summary>The load client's core where servers use two: a third one if there is one.</summary>
    public IReadOnlyList<int> PairClient => _cores.Count > 2 ? [_cores[2]] : Client;

    /// <summary>Both cores; none where nothing is pinned.</summary>
    public IReadOnlyList<int> Both => [.. Server, .. Client];

    /// <summary>The command that runs another one on some cores.</summary>
    public IReadOnlyList<string> On(IReadOnlyList<int> cores, IReadOnlyList<string> command) =>
        _taskset is null || cores.Count == 0
            ? command
            : [_taskset, "-c", string.Join(',', cores.Select(core => Invariant.Text(core))), .. command];

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
