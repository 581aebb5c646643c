using System.Runtime.InteropServices;

namespace FastPort.Client.Load;

/// <summary>Pauses a thread for microseconds: the runtime's own sleep is no finer than a millisecond, more than most of the latencies measured.</summary>
internal static class PrecisePause
{
    private const int SetTimerSlack = 29;
    private const long Millisecond = 1_000_000;

    /// <summary>Asks for wake-ups in time for the calling thread; where the system has no such thing, nothing happens.</summary>
    public static void PrepareThread()
    {
        if (OperatingSystem.IsLinux())
        {
            // Else the kernel puts wake-ups off by up to 50 us to bundle them.
            _ = ThreadControl(SetTimerSlack, 1, 0, 0, 0);
        }
    }

    /// <summary>Pauses the calling thread.</summary>
    /// <param name="nanoseconds">How long, above 0 and below a second.</param>
    public static void Wait(long nanoseconds)
    {
        if (OperatingSystem.IsLinux())
        {
            var time = new TimeSpec { Nanoseconds = (nint)nanoseconds };
            _ = NanoSleep(in time, 0);
            return;
        }

        long until = LoadClock.Nanoseconds + nanoseconds;
        if (nanoseconds > 2 * Millisecond)
        {
            Thread.Sleep((int)(nanoseconds / Millisecond) - 1);
        }

        while (LoadClock.Nanoseconds < until)
        {
            Thread.Yield();
        }
    }

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
