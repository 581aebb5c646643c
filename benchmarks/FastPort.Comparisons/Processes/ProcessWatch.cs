using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>Memory and descriptors of a process, looked at twice a second; Linux only. Disposing it ends the looking.</summary>
internal sealed class ProcessWatch : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    private readonly int _id;
    private readonly CancellationTokenSource _ending = new();
    private readonly Task _watching;
    private readonly List<double> _megabytes = []; // the watching task's until it has ended
    private long _peakKb;
    private int _peakDescriptors;

    public ProcessWatch(int id)
    {
        _id = id;
        _watching = WatchAsync();
    }

    /// <summary>The largest resident memory that was seen.</summary>
    public double PeakMegabytes => Interlocked.Read(ref _peakKb) / 1024.0;

    /// <summary>The most open descriptors that were seen.</summary>
    public int PeakDescriptors => Volatile.Read(ref _peakDescriptors);

    /// <summary>Ends the looking.</summary>
    /// <returns>Every sample of resident memory, in MB.</returns>
    public async Task<IReadOnlyList<double>> EndAsync()
    {
        await _ending.CancelAsync();
        await _watching;
        return _megabytes;
    }

    /// <summary>Resident memory; 0 where the process has ended.</summary>
    public static double ResidentMegabytes(int id) => ResidentKb(id) / 1024.0;

    /// <summary>Open descriptors; 0 where the process has ended.</summary>
    public static int Descriptors(int id)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries($"/proc/{Invariant.Text(id)}/fd").Count();
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return 0;
        }
    }

    /// <summary>How many descriptors a process started here may have; .NET programs raise the soft limit to it.</summary>
    public static int DescriptorLimit()
    {
        const string Key = "Max open files";
        string? line = File.Exists("/proc/self/limits")
            ? File.ReadLines("/proc/self/limits").FirstOrDefault(static line => line.StartsWith(Key, StringComparison.Ordinal))
            : null;
        string[] fields = line?[Key.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries) ?? [];
        return fields.Length > 1 && int.TryParse(fields[1], CultureInfo.InvariantCulture, out int limit) ? limit : int.MaxValue;
    }

    public async ValueTask DisposeAsync()
    {
        await EndAsync();
        _ending.Dispose();
    }

    private static long ResidentKb(int id)
    {
        const string Key = "VmRSS:";
        try
        {
            string? line = File.ReadLines($"/proc/{Invariant.Text(id)}/status")
                .FirstOrDefault(static line => line.StartsWith(Key, StringComparison.Ordinal));
            string[] fields = line?[Key.Length..].Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries) ?? [];
            return fields.Length == 0 ? 0 : long.Parse(fields[0], CultureInfo.InvariantCulture);
        }
        catch (IOException)
        {
            return 0;
        }
    }

    private async Task WatchAsync()
    {
        using var timer = new PeriodicTimer(Pause);
        do
        {
            long kilobytes = ResidentKb(_id);
            _megabytes.Add(kilobytes / 1024.0);
            Interlocked.Exchange(ref _peakKb, Math.Max(_peakKb, kilobytes));
            Volatile.Write(ref _peakDescriptors, Math.Max(_peakDescriptors, Descriptors(_id)));
        }
        while (await timer.WaitForNextTickAsync(_ending.Token).AsTask().ContinueWith(
            static tick => tick.IsCompletedSuccessfully, TaskScheduler.Default));
    }
}
