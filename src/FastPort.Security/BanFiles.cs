using FastPort.Security.Bans;
using FastPort.Security.Files;

namespace FastPort.Security;

/// <summary>
/// Changes ban files (<see cref="SecurityOptions.BansFile"/>), for programs that manage them and for the server itself. A lock file next to
/// it, with <c>.lock</c> appended to its name, allows one change at a time. Thread-safe.
/// </summary>
public static class BanFiles
{
    /// <summary>The bans of a file that are in force, ordered by the time they end; none if there is no file.</summary>
    /// <param name="path">The file.</param>
    /// <exception cref="IOException">The file cannot be read or is wrong.</exception>
    public static IReadOnlyList<Ban> Read(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        DateTimeOffset now = TimeProvider.System.GetUtcNow();
        return [.. ReadAll(path).Where(ban => ban.Until > now).OrderBy(static ban => ban.Until)];
    }

    /// <summary>
    /// Adds a ban, or replaces the ban of the same subject. Expired bans are removed from the file, and beyond
    /// <see cref="BanList.MaxEntries"/> those that end first.
    /// </summary>
    /// <param name="path">The file; created if it does not exist.</param>
    /// <param name="ban">The ban.</param>
    /// <exception cref="IOException">The file cannot be read or written, is wrong, or is being changed for too long.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be read or written.</exception>
    public static void Add(string path, Ban ban)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        ArgumentNullException.ThrowIfNull(ban);
        Change(path, bans => [.. bans.Where(other => other.Subject != ban.Subject), ban]);
    }

    /// <summary>As <see cref="Add(string, Ban)"/>, but changes the file only once, and does not replace a ban that ends later.</summary>
    internal static void AddLonger(string path, IReadOnlyCollection<Ban> added) => Change(
        path,
        bans => [.. bans.Concat(added).GroupBy(static ban => ban.Subject).Select(static same => same.MaxBy(static ban => ban.Until)!)]);

    /// <summary>Ends a ban; false if the file has no ban in force of this subject.</summary>
    /// <param name="path">The file.</param>
    /// <param name="subject">The subject in any form: an address, a network, an identity.</param>
    /// <exception cref="ArgumentException">The subject is not valid.</exception>
    /// <exception cref="IOException">The file cannot be read or written, is wrong, or is being changed for too long.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be read or written.</exception>
    public static bool Lift(string path, string subject)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        string lifted = new Ban(subject, DateTimeOffset.MaxValue).Subject;
        bool isThere = false;
        Change(path, bans =>
        {
            isThere = bans.Any(ban => ban.Subject == lifted);
            return [.. bans.Where(ban => ban.Subject != lifted)];
        });
        return isThere;
    }

    /// <summary>Creates an empty file if there is none.</summary>
    internal static void Create(string path)
    {
        if (!File.Exists(path))
        {
            PrivateFile.Replace(path, []);
        }
    }

    private static void Change(string path, Func<IReadOnlyList<Ban>, IReadOnlyList<Ban>> change)
    {
        using IDisposable _ = FileChange.Begin(path);

        // As many as a server keeps, and the same ones: a file that kept growing would be too large for the next start.
        PrivateFile.Replace(path, BanFile.Write(change(Read(path)).OrderBy(static ban => ban.Until).TakeLast(BanList.MaxEntries)));
    }

    private static IReadOnlyList<Ban> ReadAll(string path)
    {
        if (!File.Exists(path))
        {
            return [];
        }

        try
        {
            List<string> problems = [];
            return BanFile.Read(FileBytes.Read(path, "bans", BanFile.MaxBytes), problems)
                ?? throw new SecurityFileException("bans", path, problems);
        }
        catch (SecurityFileException e)
        {
            throw new IOException(e.Message, e);
        }
    }
}
