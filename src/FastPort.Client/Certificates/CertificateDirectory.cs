using System.Text;
using FastPort.Programs;
using FastPort.Client.Administration;

namespace FastPort.Client.Certificates;

/// <summary>The directory of an authority, and of the certificates that it has signed.</summary>
/// <param name="path">Where it is.</param>
internal sealed class CertificateDirectory(string path)
{
    private const string Authority = "ca";
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly string _path = Path.GetFullPath(path);

    /// <summary>Where a file of the directory is.</summary>
    public string PathOf(string file) => Path.Combine(_path, file);

    /// <summary>Reads the authority; null if the directory has none.</summary>
    /// <param name="now">The time.</param>
    /// <exception cref="CommandFailedException">There is one that cannot be used.</exception>
    public DevelopmentAuthority? ReadAuthority(DateTimeOffset now)
    {
        string certificate = PathOf($"{Authority}.pem");
        string key = PathOf($"{Authority}.key");
        if (!File.Exists(certificate) && !File.Exists(key))
        {
            return null;
        }

        string? problem = !File.Exists(certificate) ? "it has ca.key, but no ca.pem" : "it has ca.pem, but no ca.key";
        if (File.Exists(certificate) && File.Exists(key)
            && DevelopmentAuthority.Read((File.ReadAllText(certificate), File.ReadAllText(key)), now, out problem) is { } authority)
        {
            return authority;
        }

        throw new CommandFailedException(
            ExitCode.Usage, $"The authority in {_path} cannot be used: {problem}; remove ca.pem and ca.key for a new one.");
    }

    /// <summary>Creates the directory, for its owner only, unless it exists.</summary>
    public void Create()
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(_path);
        }
        else
        {
            Directory.CreateDirectory(_path, OwnerOnly | UnixFileMode.UserExecute);
        }
    }

    /// <summary>Writes the authority. A file that another process has written in the meantime stays: then this fails.</summary>
    public void WriteAuthority(PemPair pair) => Write(Authority, pair, replaces: false);

    /// <summary>Writes a certificate and its key, or replaces them. Concurrent readers see either the old or the new file.</summary>
    /// <param name="name">The files' name, without extension.</param>
    /// <param name="pair">What to write.</param>
    public void Write(string name, PemPair pair) => Write(name, pair, replaces: true);

    private void Write(string name, PemPair pair, bool replaces)
    {
        string key = PathOf($"{name}.key");
        string certificate = PathOf($"{name}.pem");
        string suffix = $".{Path.GetRandomFileName()}";
        try
        {
            Create(key + suffix, pair.Key, OwnerOnly);
            Create(certificate + suffix, pair.Certificate, mode: null);

            // Both are complete before the first gets its name, and the certificate comes last: a server that sees it change finds its key.
            File.Move(key + suffix, key, replaces);
            File.Move(certificate + suffix, certificate, replaces);
        }
        catch
        {
            File.Delete(key + suffix);
            File.Delete(certificate + suffix);
            throw;
        }
    }

    private static void Create(string file, string text, UnixFileMode? mode)
    {
        FileStreamOptions options = new() { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (mode is not null && !OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = mode;
        }

        using FileStream stream = new(file, options);
        stream.Write(Encoding.ASCII.GetBytes(text));
        stream.Flush(flushToDisk: true);
    }
}
