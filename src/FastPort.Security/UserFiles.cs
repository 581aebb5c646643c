using System.Text;
using FastPort.Security.Files;
using FastPort.Security.Identities;

namespace FastPort.Security;

/// <summary>
/// Changes user files (<see cref="SecurityOptions.UsersFile"/>), for programs that manage them. A lock file next to it, with <c>.lock</c>
/// appended to its name, allows one change at a time. Thread-safe.
/// </summary>
public static class UserFiles
{
    /// <summary>
    /// Adds a user, or gives an existing user a new password and new roles. The other lines of the file stay unchanged. Only the owner can
    /// read a new file. The file is replaced atomically, so a server reads either the old or the new file.
    /// </summary>
    /// <param name="path">The file; created if it does not exist.</param>
    /// <param name="name">
    /// The user's name: 1 to 256 characters, none of category Cc, Cf, Zl or Zp, without colon and space around it, not beginning with
    /// <c>#</c>.
    /// </param>
    /// <param name="password">The password; not empty. It is stored as an Argon2id hash.</param>
    /// <param name="roles">The roles: not empty, without colon, comma and line break.</param>
    /// <exception cref="ArgumentException">Name, password or a role is not allowed.</exception>
    /// <exception cref="IOException">The file cannot be read or written, or is being changed for too long.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be read or written.</exception>
    public static void Set(string path, string name, string password, IEnumerable<string> roles)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentException.ThrowIfNullOrEmpty(password);
        ArgumentNullException.ThrowIfNull(roles);
        if (!UserNames.IsAllowed(name) || name[0] == '#' || name.Contains(':'))
        {
            throw new ArgumentException(
                $"'{name}' cannot be a user's name: it is empty, begins with #, has a colon, or breaks a rule: {UserNames.Rules}.",
                nameof(name));
        }

        string[] all = [.. roles];
        if (Array.Find(all, static role => role.Trim() != role || role.Length == 0 || role.AsSpan().ContainsAny(":,\r\n")) is { } wrong)
        {
            throw new ArgumentException(
                $"'{wrong}' cannot be a role: it is empty, or has a colon, a comma, a line break or a space around it.", nameof(roles));
        }

        string line = $"{name}:{PasswordHash.Create(password)}" + (all.Length == 0 ? string.Empty : $":{string.Join(',', all)}");
        using IDisposable _ = FileChange.Begin(path);
        List<string> lines = Read(path);
        int place = lines.FindIndex(one => IsOf(one, name));
        if (place < 0)
        {
            lines.Add(line);
        }
        else
        {
            lines[place] = line;
        }

        Write(path, lines);
    }

    /// <summary>Removes a user; false if the file has no user of this name.</summary>
    /// <param name="path">The file.</param>
    /// <param name="name">The user's name.</param>
    /// <exception cref="IOException">The file cannot be read or written, or is being changed for too long.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be read or written.</exception>
    public static bool Remove(string path, string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        ArgumentNullException.ThrowIfNull(name);
        if (!File.Exists(path))
        {
            return false;
        }

        using IDisposable _ = FileChange.Begin(path);
        List<string> lines = Read(path);
        if (lines.RemoveAll(one => IsOf(one, name)) == 0)
        {
            return false;
        }

        Write(path, lines);
        return true;
    }

    private static bool IsOf(string line, string name) => line.TrimStart().StartsWith(name + ":", StringComparison.Ordinal);

    private static List<string> Read(string path) => File.Exists(path) ? [.. File.ReadAllLines(path)] : [];

    private static void Write(string path, List<string> lines)
    {
        byte[] text = Encoding.UTF8.GetBytes(string.Concat(lines.Select(static line => line + "\n")));
        PrivateFile.Replace(path, text);
    }
}
