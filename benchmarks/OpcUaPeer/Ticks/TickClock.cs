using System.Diagnostics;
using System.Runtime.InteropServices;

namespace OpcUaPeer.Ticks;

/// <summary>
/// Waits for a point of <see cref="Stopwatch"/>'s time on the calling thread. On Linux the kernel wakes the thread at that time
/// (clock_nanosleep, absolute), some 60 us late. Elsewhere the thread waits until <see cref="Margin"/> before it and then spins, as timers
/// there are late by up to 16 ms: that costs CPU time and keeps caches warm, so figures of other systems are not to be compared.
/// </summary>
internal static partial class TickClock
{
    private const int Monotonic = 1;
    private const int Absolute = 1;
    private const int Interrupted = 4;

    private static readonly TimeSpan Margin = TimeSpan.FromMilliseconds(20);

    // Never set: only its time-out is wanted.
    private static readonly ManualResetEvent Never = new(false);

    // Stopwatch's time is that of the monotonic clock on Linux, in nanoseconds.
    private static bool HasKernelClock { get; } =
        OperatingSystem.IsLinux() && Environment.Is64BitProcess && Stopwatch.Frequency == 1_000_000_000;

    /// <summary>Returns at that time, or at once if it has passed.</summary>
    /// <param name="timestamp">As <see cref="Stopwatch.GetTimestamp"/> counts.</param>
    public static void WaitUntil(long timestamp)
    {
        if (HasKernelClock)
        {
            SleepUntil(timestamp);
            return;
        }

        TimeSpan left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), timestamp) - Margin;
        if (left > TimeSpan.Zero)
        {
            Never.WaitOne(left);
        }

        while (Stopwatch.GetTimestamp() < timestamp)
        {
            Thread.SpinWait(20);
        }
    }

    private static void SleepUntil(long timestamp)
    {
        var time = new Timespec { Seconds = timestamp / 1_000_000_000, Nanoseconds = timestamp % 1_000_000_000 };
        int error;
        do
        {
            error = Sleep(Monotonic, Absolute, time, 0);
        }
        while (error == Interrupted);

        if (error != 0)
        {
            throw new InvalidOperationException($"clock_nanosleep failed with error {error}.");
        }
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Sleep(int clock, int flags, in Timespec time, nint remaining);

    [StructLayout(LayoutKind.Sequential)]
    private struct Timespec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
