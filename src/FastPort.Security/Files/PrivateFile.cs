namespace FastPort.Security.Files;

/// <summary>Writes files with secrets.</summary>
internal static class PrivateFile
{
    /// <summary>
    /// Replaces a file atomically. It keeps its permissions, and on Linux its owner and group; a new one can be read and written by its
    /// owner only. A symbolic link is followed.
    /// </summary>
    /// <exception cref="IOException">It cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be written, or the caller cannot preserve its owner and group.</exception>
    public static void Replace(string path, byte[] bytes)
    {
        FileSystemInfo? linked = File.Exists(path) ? File.ResolveLinkTarget(path, returnFinalTarget: true) : null;
        string target = linked?.FullName ?? Path.GetFullPath(path);

        // A process that was killed leaves its file behind, and the next one may have the same id: in a container it always has.
        string temporary = $"{target}.{Path.GetRandomFileName()}.tmp";

        // Outside the try: a file that another change has created is not this one's to delete.
        FileStream stream = Create(temporary, FileAccess.Write);
        try
        {
            using (stream)
            {
                if (!OperatingSystem.IsWindows() && File.Exists(target))
                {
                    KeepOwner(stream, target);
                    File.SetUnixFileMode(stream.SafeFileHandle, File.GetUnixFileMode(target));
                }

                stream.Write(bytes);
                stream.Flush(flushToDisk: true);
            }

            File.Move(temporary, target, overwrite: true);
        }
        catch
        {
            File.Delete(temporary);
            throw;
        }
    }

    /// <summary>
    /// Opens the lock file that lets one process at a time change another file: an administrator's command must not leave either file
    /// unreadable for the server.
    /// </summary>
    /// <param name="path">
    /// The lock file; created if it does not exist, with owner and group of the other file. Then no other user can open it and hold the
    /// lock.
    /// </param>
    /// <param name="locked">The other file.</param>
    /// <exception cref="IOException">Another process has it open, or it cannot be created.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be opened, or the caller cannot give it to the owner.</exception>
    public static FileStream OpenLock(string path, string locked)
    {
        if (!File.Exists(path))
        {
            // Only a new file changes its owner: an existing one may be a link to any other file.
            try
            {
                FileStream created = Create(path, FileAccess.ReadWrite);
                try
                {
                    KeepOwner(created, locked);
                    return created;
                }
                catch
                {
                    created.Dispose();
                    File.Delete(path);
                    throw;
                }
            }
            catch (IOException) when (File.Exists(path))
            {
                // Another process has created it in the meantime.
            }
        }

        return new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.None);
    }

    private static FileStream Create(string path, FileAccess access)
    {
        FileStreamOptions options = new() { Mode = FileMode.CreateNew, Access = access, Share = FileShare.None };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        return new FileStream(path, options);
    }

    // A server that runs as another user could not read the file of an administrator.
    private static void KeepOwner(FileStream made, string target)
    {
        if (Libc.OwnerOf(target) is { } owner && Libc.OwnerOf(made.Name) != owner && !Libc.TryGive(made.SafeFileHandle, owner))
        {
            throw new UnauthorizedAccessException(
                $"{target} belongs to user id {owner.User} and group id {owner.Group}. Replacing it would change its owner. Run this as "
                + $"its owner: sudo -u '#{owner.User}' -g '#{owner.Group}' ...");
        }
    }
}
