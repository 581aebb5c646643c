using System.Globalization;

namespace FastPort.Hosting;

/// <summary>The number of descriptors that this process may open.</summary>
internal static class DescriptorLimit
{
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
}
