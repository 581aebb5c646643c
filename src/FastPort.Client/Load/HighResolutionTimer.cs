using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Client.Load;

/// <summary>
/// A waitable timer of Windows that is at most 0.5 ms late (Windows 10 1803 and later). If the system has none, a wait returns at once.
/// </summary>
[SupportedOSPlatform("windows")]
internal sealed class HighResolutionTimer : WaitHandle
{
    private const uint HighResolution = 2;
    private const uint AllAccess = 0x1F0003;

    public HighResolutionTimer() =>
        SafeWaitHandle = new SafeWaitHandle(CreateWaitableTimer(0, 0, HighResolution, AllAccess), ownsHandle: true);

    /// <summary>Pauses the calling thread.</summary>
    /// <param name="nanoseconds">How long, above 0.</param>
    public void Wait(long nanoseconds)
    {
        // Negative: relative to now, in units of 100 ns.
        long due = -Math.Max(1, nanoseconds / 100);
        if (!SafeWaitHandle.IsInvalid && SetWaitableTimer(SafeWaitHandle, in due, 0, 0, 0, resume: false))
        {
            WaitOne();
        }
    }

    [DllImport("kernel32", EntryPoint = "CreateWaitableTimerExW")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.System32)]
    private static extern nint CreateWaitableTimer(nint attributes, nint name, uint flags, uint access);

    [DllImport("kernel32", EntryPoint = "SetWaitableTimer")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.System32)]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static extern bool SetWaitableTimer(
        SafeWaitHandle timer, in long due, int period, nint routine, nint argument, [MarshalAs(UnmanagedType.Bool)] bool resume);
}
