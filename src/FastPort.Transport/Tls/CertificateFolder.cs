namespace FastPort.Tls;

/// <summary>Knows the files of a folder of certificates.</summary>
internal static class CertificateFolder
{
    /// <summary>The files with certificates, in ordinal order of their names.</summary>
    /// <exception cref="CertificateException">There are none.</exception>
    public static IReadOnlyList<string> Certificates(string folder)
    {
        string[] files = [.. Files(folder).Where(static file => HasExtension(file, ".pem") || PfxCertificate.IsPfx(file))];
        return files.Length != 0
            ? files
            : throw new CertificateException(
                $"The folder {folder} contains no certificate. Put name.pem and name.key, or name.pfx, into it.");
    }

    /// <summary>The file with the private key of a certificate; empty if the key has no separate file.</summary>
    public static string KeyOf(string certificate)
    {
        string key = Path.ChangeExtension(certificate, ".key");
        return !PfxCertificate.IsPfx(certificate) && File.Exists(key) ? key : string.Empty;
    }

    /// <summary>The files with certificates and keys, in ordinal order of their names.</summary>
    /// <exception cref="CertificateException">The folder cannot be read.</exception>
    public static IReadOnlyList<string> Files(string folder)
    {
        try
        {
            return
            [
                .. Directory.EnumerateFiles(folder)
                    .Where(static file => HasExtension(file, ".pem") || HasExtension(file, ".key") || PfxCertificate.IsPfx(file))
                    .Order(StringComparer.Ordinal),
            ];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Unreadable(folder, e);
        }
    }

    internal static CertificateException Unreadable(string folder, Exception e) => e switch
    {
        DirectoryNotFoundException => new($"The folder {folder} does not exist. Create it or correct the path.", e),
        UnauthorizedAccessException =>
            new($"The folder {folder} cannot be read: permission denied. Give this process's user the right to read it.", e),
        _ => new($"The folder {folder} could not be read. The system says: {e.Message}", e),
    };

    private static bool HasExtension(string file, string extension) => file.EndsWith(extension, StringComparison.OrdinalIgnoreCase);
}
