using System.Globalization;

namespace FastPort.TestHost;

/// <summary>What a process holds: one line of key=value pairs.</summary>
internal static class ProcessFigures
{
    public static string Read(RentedArrays? rented)
    {
        // First of all, so that reading the rest does not count.
        long allocated = GC.GetTotalAllocatedBytes(precise: true);
        for (int i = 0; i < 3; i++)
        {
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
            GC.WaitForPendingFinalizers();
        }

        long heap = GC.GetTotalMemory(forceFullCollection: true);
        return string.Create(
            CultureInfo.InvariantCulture,
            $"allocated={allocated} heap={heap} rented={rented?.Outstanding ?? 0} timers={Timer.ActiveCount} "
            + $"descriptors={Count("/proc/self/fd")} threads={Count("/proc/self/task")}");
    }

    private static int Count(string directory) => Directory.Exists(directory) ? Directory.GetFileSystemEntries(directory).Length : 0;
}
