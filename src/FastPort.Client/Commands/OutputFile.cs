using FastPort.Programs;

namespace FastPort.Client.Commands;

/// <summary>A file that a command writes at its end.</summary>
internal static class OutputFile
{
    /// <summary>Checks before the run for problems that would prevent writing the file after it. Changes no file.</summary>
    /// <param name="option">The option that names the file.</param>
    /// <param name="path">The file; null for none.</param>
    /// <exception cref="OutputFileException">The file could not be written.</exception>
    public static void Require(string option, string? path)
    {
        if (path is null)
        {
            return;
        }

        try
        {
            if (Directory.Exists(path))
            {
                throw new OutputFileException($"{option} is '{path}', which is a directory; give the path of a file.");
            }

            var file = new FileInfo(path);
            if (!file.Exists)
            {
                using FileStream made = new(
                    path, FileMode.CreateNew, FileAccess.Write, FileShare.None, bufferSize: 1, FileOptions.DeleteOnClose);
            }
            else if (file.Length != 0)
            {
                // Not for a pipe or a device, whose reader would see an end of file.
                using FileStream opened = new(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
            }
        }
        catch (DirectoryNotFoundException e)
        {
            throw new OutputFileException(
                $"{option} is '{path}'; there is no directory '{Path.GetDirectoryName(Path.GetFullPath(path))}'. Create it, or give a path "
                + "in another one.", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            throw new OutputFileException($"{option} is '{path}', which cannot be written: {e.Message}", e);
        }
    }
}

/// <summary>A file that an option names cannot be written.</summary>
internal sealed class OutputFileException(string message, Exception? inner = null) : ProgramFailedException(
    message, Programs.ExitCode.Usage, inner);
