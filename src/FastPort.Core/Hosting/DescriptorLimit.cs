using System.Globalization;

namespace FastPort.Hosting;

/// <summary>The number of descriptors that this process may open, and how many of them connections may use.</summary>
internal static class DescriptorLimit
{
    // Reserved for descriptors that the process opens later: log files, assemblies, connections of the application, and above all threads.
    // The runtime needs two descriptors to start a thread; if the thread pool gets none, the runtime ends the process with "Out of memory".
    private const int Reserve = 64;

    /// <summary>The soft limit on Linux; null on other systems, or if it is unlimited or cannot be read.</summary>
    public static long? Read()
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        try
        {
            foreach (string line in File.ReadLines("/proc/self/limits"))
            {
                if (line.StartsWith("Max open files", StringComparison.Ordinal))
                {
                    string soft = line[14..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[0];
                    return long.TryParse(soft, CultureInfo.InvariantCulture, out long limit) ? limit : null;
                }
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Without the limit, MaxConnections alone applies and there is no warning.
        }

        return null;
    }

    /// <summary>Number of connections that this limit allows in addition to the descriptors open now; at least 1.</summary>
    public static int ConnectionsWithin(long limit)
    {
        try
        {
            long free = limit - Directory.EnumerateFileSystemEntries("/proc/self/fd").LongCount() - Reserve;
            return (int)Math.Clamp(free, 1, int.MaxValue);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return int.MaxValue;
        }
    }
}
