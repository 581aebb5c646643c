using System.Runtime.InteropServices;

namespace FastPort.Client.Load;

/// <summary>
/// Pauses a thread for microseconds. The runtime's sleeps and timers have a resolution of milliseconds (on Windows up to 15 ms), which is
/// more than most measured latencies, so this class calls the system: nanosleep, or a high-resolution waitable timer on Windows. Used only
/// by the thread that created it.
/// </summary>
internal sealed class PrecisePause : IDisposable
{
    private const int SetTimerSlack = 29;

    // Maximum lateness of a Windows timer in nanoseconds; the thread spins for this part.
    private const long WindowsLateness = 600_000;

    private readonly HighResolutionTimer? _timer;

    /// <summary>Requests precise wake-ups for the calling thread, on systems that need such a request.</summary>
    public PrecisePause()
    {
        if (OperatingSystem.IsLinux())
        {
            // Otherwise the kernel delays wake-ups by up to 50 us to combine them.
            _ = ThreadControl(SetTimerSlack, 1, 0, 0, 0);
        }
        else if (OperatingSystem.IsWindows())
        {
            _timer = new HighResolutionTimer();
        }
    }

    /// <summary>Pauses the calling thread; a signal may end the pause early.</summary>
    /// <param name="nanoseconds">How long, above 0 and below a second.</param>
    public void Wait(long nanoseconds)
    {
        if (!OperatingSystem.IsWindows())
        {
            var time = new TimeSpec { Nanoseconds = (nint)nanoseconds };
            _ = NanoSleep(in time, 0);
            return;
        }

        long until = MonotonicClock.Nanoseconds + nanoseconds;
        if (nanoseconds > WindowsLateness)
        {
            _timer!.Wait(nanoseconds - WindowsLateness);
        }

        while (MonotonicClock.Nanoseconds < until)
        {
            Thread.Yield();
        }
    }

    public void Dispose() => _timer?.Dispose();

    [DllImport("libc", EntryPoint = "nanosleep")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int NanoSleep(in TimeSpec time, nint remaining);

    [DllImport("libc", EntryPoint = "prctl")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int ThreadControl(int option, nuint first, nuint second, nuint third, nuint fourth);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
