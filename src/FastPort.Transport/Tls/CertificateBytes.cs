using System.Text;

namespace FastPort.Tls;

/// <summary>
/// Reads the files that belong to certificates, completely and with a size limit; reports what to do if one cannot be read.
/// </summary>
internal static class CertificateBytes
{
    /// <summary>Above every sensible bundle of authorities. A wrong path, such as a device or a log, must not fill the memory.</summary>
    private const int MaxBytes = 4 * 1024 * 1024;

    /// <summary>The bytes of a file.</summary>
    /// <param name="path">The file.</param>
    /// <param name="what">What it is, for messages: "key".</param>
    /// <exception cref="CertificateException">The file cannot be read.</exception>
    public static byte[] Read(string path, string what)
    {
        try
        {
            using FileStream stream = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            if (stream.Length > MaxBytes)
            {
                throw new CertificateException(
                    $"The {what} file {path} has {stream.Length} bytes, more than the {MaxBytes} that are read. Correct the path.");
            }

            // As many as there are now: a file that grows in the meantime is read again at the next check.
            byte[] bytes = new byte[stream.Length];
            return bytes[..stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false)];
        }
        catch (Exception e) when (e is (IOException or UnauthorizedAccessException or NotSupportedException) and not CertificateException)
        {
            throw Unreadable(path, what, e);
        }
    }

    /// <summary>The text of a file; UTF-8 unless it begins with the byte order mark of another encoding.</summary>
    public static string ReadText(string path, string what)
    {
        using StreamReader reader = new(new MemoryStream(Read(path, what)), Encoding.UTF8);
        return reader.ReadToEnd();
    }

    internal static CertificateException Unreadable(string path, string what, Exception e) => e switch
    {
        FileNotFoundException or DirectoryNotFoundException =>
            new($"The {what} file {path} does not exist. Create it or correct the path.", e),
        UnauthorizedAccessException when Directory.Exists(path) =>
            new($"The {what} file {path} is a folder. Name a file.", e),
        UnauthorizedAccessException =>
            new($"The {what} file {path} cannot be read: permission denied. Give this process's user the right to read it.", e),
        _ => new($"The {what} file {path} could not be read. The system says: {e.Message}", e),
    };
}
