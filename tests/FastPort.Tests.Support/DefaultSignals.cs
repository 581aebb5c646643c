using System.Globalization;
using System.Runtime.InteropServices;

namespace FastPort.Tests.Support;

/// <summary>
/// Gives processes that tests start the default of SIGINT. A shell that runs the tests in the background of a script has it ignored, and a
/// process inherits that: it could not be interrupted.
/// </summary>
internal static partial class DefaultSignals
{
    private const int SigInt = 2;

    internal static void Restore()
    {
        if (OperatingSystem.IsLinux() && IsIgnored(SigInt))
        {
            Signal(SigInt, handler: 0);
        }
    }

    // Where it is not ignored, the runtime has a handler of its own, which stays.
    private static bool IsIgnored(int signal)
    {
        const string Line = "SigIgn:";
        string ignored = File.ReadLines("/proc/self/status").First(static line => line.StartsWith(Line, StringComparison.Ordinal));
        ulong signals = ulong.Parse(ignored.AsSpan(Line.Length).Trim(), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        return (signals & (1UL << (signal - 1))) != 0;
    }

    [LibraryImport("libc", EntryPoint = "signal")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint Signal(int signal, nint handler);
}
