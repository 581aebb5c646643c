using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>CPU time as the kernel counts it, for cores and for processes; Linux only.</summary>
internal static class CoreMeter
{
    // USER_HZ, which is 100 wherever Linux runs .NET.
    private const double TicksPerSecond = 100;

    /// <summary>What these cores have spent up to now; 0 where nothing is pinned or it cannot be told.</summary>
    public static CoreTime Read(IReadOnlyList<int> cores) =>
        cores.Count == 0 || !File.Exists("/proc/stat") ? default : Parse(File.ReadLines("/proc/stat"), cores);

    /// <summary>Reads the lines of <c>/proc/stat</c>, whose fields proc(5) has.</summary>
    public static CoreTime Parse(IEnumerable<string> lines, IReadOnlyList<int> cores)
    {
        double busy = 0, stolen = 0;
        foreach (string line in lines)
        {
            string[] fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 8 && cores.Any(core => fields[0] == $"cpu{core}"))
            {
                // user, nice, system, irq, softirq, steal. Most kernels count the time of interrupts as that of the process which they
                // interrupt, too: without irq and softirq what the processes have would be more than what the cores have.
                busy += Number(fields[1]) + Number(fields[2]) + Number(fields[3])
                    + Number(fields[6]) + Number(fields[7]) + Number(fields[8]);
                stolen += Number(fields[8]);
            }
        }

        return new CoreTime(busy / TicksPerSecond, stolen / TicksPerSecond);
    }

    /// <summary>User and system time of a process; 0 where it has ended.</summary>
    public static double ProcessSeconds(int id)
    {
        try
        {
            // The name, the second field, may hold anything; what follows it begins with the third.
            string line = File.ReadAllText($"/proc/{id}/stat");
            string[] fields = line[(line.LastIndexOf(')') + 2)..].Split(' ');
            return (Number(fields[11]) + Number(fields[12])) / TicksPerSecond;
        }
        catch (IOException)
        {
            return 0;
        }
    }

    private static double Number(string text) => double.Parse(text, CultureInfo.InvariantCulture);
}

/// <summary>CPU seconds of cores since the machine's start.</summary>
/// <param name="Busy">All that was not idle, with interrupts and what the hypervisor took.</param>
/// <param name="Stolen">What the hypervisor took, for other machines.</param>
internal readonly record struct CoreTime(double Busy, double Stolen)
{
    /// <summary>What others have had of the cores since, other machines among them.</summary>
    /// <param name="before">The cores' times then.</param>
    /// <param name="own">CPU time since then of the processes that are measured.</param>
    /// <remarks>
    /// Some kernels count stolen time as that of the process it was stolen from, so it is in both sums there: it is the least there can be.
    /// Else the difference may be below zero only by the rounding to ticks.
    /// </remarks>
    public double OthersSince(CoreTime before, double own) => Math.Max(Busy - before.Busy - own, Stolen - before.Stolen);
}
