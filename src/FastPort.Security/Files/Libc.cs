using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Security.Files;

/// <summary>File operations of Linux that .NET does not offer.</summary>
internal static unsafe partial class Libc
{
    // fcntl.h and linux/stat.h: the same on every architecture of .NET.
    private const int SetFlags = 4;
    private const int OpenAppend = 0x400;
    private const int AtCurrentDirectory = -100;
    private const uint MaskOwner = 0x8 | 0x10;
    private const int StatSize = 256;

    /// <summary>
    /// From now on the system appends each write at the current end of the file, even if other processes write to it. .NET's
    /// <see cref="FileMode.Append"/> writes at the end that the file had when it was opened. Does nothing on other systems.
    /// </summary>
    public static void Append(SafeFileHandle file)
    {
        if (OperatingSystem.IsLinux() && FileControl(file, SetFlags, OpenAppend) != 0)
        {
            throw new IOException($"The file cannot be appended to: {Marshal.GetLastPInvokeErrorMessage()}.");
        }
    }

    /// <summary>User and group of the file at a path; of a link, those of its target. Null if they cannot be read.</summary>
    public static (uint User, uint Group)? OwnerOf(string path)
    {
        byte* stat = stackalloc byte[StatSize];
        if (!OperatingSystem.IsLinux() || Statx(AtCurrentDirectory, path, 0, MaskOwner, stat) != 0)
        {
            return null;
        }

        // struct statx has the same layout on every architecture.
        var bytes = new ReadOnlySpan<byte>(stat, StatSize);
        return (BitConverter.ToUInt32(bytes[20..]), BitConverter.ToUInt32(bytes[24..]));
    }

    /// <summary>Gives a file to a user and a group; false if the caller may not.</summary>
    public static bool TryGive(SafeFileHandle file, (uint User, uint Group) owner) => ChangeOwner(file, owner.User, owner.Group) == 0;

    [LibraryImport("libc", EntryPoint = "statx", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Statx(int directory, string path, int flags, uint mask, byte* stat);

    [LibraryImport("libc", EntryPoint = "fchown")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int ChangeOwner(SafeFileHandle file, uint user, uint group);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int FileControl(SafeFileHandle file, int command, nint argument);
}
