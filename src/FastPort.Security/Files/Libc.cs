using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Security.Files;

/// <summary>What Linux can do with files and .NET does not offer.</summary>
internal static unsafe partial class Libc
{
    // fcntl.h and linux/stat.h: the same on every architecture of .NET.
    private const int SetFlags = 4;
    private const int OpenAppend = 0x400;

    /// <summary>
    /// From now on the system puts each write behind the end that the file has then, whoever else writes to it. .NET's own
    /// <see cref="FileMode.Append"/> writes where the end was when the file was opened. Does nothing on other systems.
    /// </summary>
    public static void Append(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux() && FileControl(file, SetFlags, OpenAppend) != 0)
        {
            throw new IOException($"The file cannot be appended to: {Marshal.GetLastPInvokeErrorMessage()}.");
        }
    }

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int FileControl(SafeFileHandle file, int command, nint argument);
}
