namespace FastPort.Security.Files;

/// <summary>Writes files with secrets.</summary>
internal static class PrivateFile
{
    /// <summary>
    /// Replaces a file in one step. It keeps its permissions; a new one can be read and written by its owner only. A symbolic link is
    /// followed.
    /// </summary>
    public static void Replace(string path, byte[] bytes)
    {
        FileSystemInfo? linked = File.Exists(path) ? File.ResolveLinkTarget(path, returnFinalTarget: true) : null;
        string target = linked?.FullName ?? Path.GetFullPath(path);
        string temporary = $"{target}.{Environment.ProcessId}.tmp";
        FileStreamOptions options = new() { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        try
        {
            using (FileStream stream = new(temporary, options))
            {
                stream.Write(bytes);
                stream.Flush(flushToDisk: true);
            }

            if (!OperatingSystem.IsWindows() && File.Exists(target))
            {
                File.SetUnixFileMode(temporary, File.GetUnixFileMode(target));
            }

            File.Move(temporary, target, overwrite: true);
        }
        catch
        {
            File.Delete(temporary);
            throw;
        }
    }
}
