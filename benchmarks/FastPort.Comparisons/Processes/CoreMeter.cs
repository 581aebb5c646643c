using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>CPU time as the kernel counts it, for cores and for processes; Linux only.</summary>
internal static class CoreMeter
{
    // USER_HZ, which is 100 wherever Linux runs .NET.
    private const double TicksPerSecond = 100;

    /// <summary>User and system time of every process on these cores together; 0 where nothing is pinned or it cannot be told.</summary>
    public static double BusySeconds(IReadOnlyList<int> cores)
    {
        if (cores.Count == 0 || !File.Exists("/proc/stat"))
        {
            return 0;
        }

        double ticks = 0;
        foreach (string line in File.ReadLines("/proc/stat"))
        {
            string[] fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (cores.Any(core => fields[0] == $"cpu{core}"))
            {
                // user, nice, system; interrupts belong to nobody and are left out.
                ticks += Number(fields[1]) + Number(fields[2]) + Number(fields[3]);
            }
        }

        return ticks / TicksPerSecond;
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
