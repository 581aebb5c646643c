using System.Runtime.InteropServices;

namespace FastPort.Transports.Unix;

/// <summary>Identifies the file at a path, to distinguish it from another file that later has the same path. Linux only.</summary>
/// <param name="Device">The file system.</param>
/// <param name="Number">The file's number there (inode), reused once the file is removed and no program has it open.</param>
/// <param name="Born">Creation time of the file, in nanoseconds; 0 if the file system does not record it.</param>
/// <param name="IsSocket">Whether it is a socket.</param>
internal readonly unsafe partial record struct FileIdentity(ulong Device, ulong Number, long Born, bool IsSocket)
{
    // linux/stat.h
    private const int AtCurrentDirectory = -100;
    private const int AtNoFollow = 0x100;
    private const uint MaskTypeAndNumber = 0x1 | 0x100;
    private const uint MaskBorn = 0x800;
    private const int BufferSize = 256;

    /// <summary>Reads the path itself, without following a symbolic link. Null if there is no file or it is not accessible.</summary>
    public static FileIdentity? TryRead(string path)
    {
        byte* stat = stackalloc byte[BufferSize];
        if (!OperatingSystem.IsLinux() || Statx(AtCurrentDirectory, path, AtNoFollow, MaskTypeAndNumber | MaskBorn, stat) != 0)
        {
            return null;
        }

        // struct statx has the same layout on every architecture.
        var bytes = new ReadOnlySpan<byte>(stat, BufferSize);
        bool hasBorn = (BitConverter.ToUInt32(bytes) & MaskBorn) != 0;
        return new FileIdentity(
            BitConverter.ToUInt64(bytes[136..]),
            BitConverter.ToUInt64(bytes[32..]),
            hasBorn ? (BitConverter.ToInt64(bytes[80..]) * 1_000_000_000) + BitConverter.ToUInt32(bytes[88..]) : 0,
            (BitConverter.ToUInt16(bytes[28..]) & 0xF000) == 0xC000);
    }

    [LibraryImport("libc", EntryPoint = "statx", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Statx(int directory, string path, int flags, uint mask, byte* stat);
}
