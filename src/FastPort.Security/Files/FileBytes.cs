namespace FastPort.Security.Files;

/// <summary>Reads whole files of bounded size.</summary>
internal static class FileBytes
{
    /// <summary>The bytes of a file.</summary>
    /// <param name="path">The file.</param>
    /// <param name="what">What it is, for messages: "policy".</param>
    /// <param name="maxBytes">Size above which it is not read.</param>
    /// <exception cref="SecurityFileException">The file cannot be read or is too large.</exception>
    public static byte[] Read(string path, string what, int maxBytes)
    {
        try
        {
            using FileStream stream = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            if (stream.Length > maxBytes)
            {
                throw new SecurityFileException(what, path, [$"It has {stream.Length} bytes; at most {maxBytes} are read."]);
            }

            // As many as there are now: a file that grows in the meantime is read again at the next check.
            byte[] bytes = new byte[stream.Length];
            return bytes[..stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false)];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SecurityFileException(what, path, [e.Message], e);
        }
    }
}
