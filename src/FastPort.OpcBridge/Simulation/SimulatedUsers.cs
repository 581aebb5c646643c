using System.Security.Cryptography;
using System.Text;
using FastPort.Programs;

namespace FastPort.OpcBridge.Simulation;

/// <summary>Names and passwords of the command line and of a file. Immutable.</summary>
internal sealed class SimulatedUsers
{
    private readonly Dictionary<string, byte[]> _passwords = new(StringComparer.Ordinal);

    private SimulatedUsers()
    {
    }

    /// <summary>Whether there is no user.</summary>
    public bool IsEmpty => _passwords.Count == 0;

    /// <summary>Reads the users.</summary>
    /// <param name="given">Users as <c>name:password</c>.</param>
    /// <param name="file">A file with more of them, one in a line; null for none.</param>
    /// <exception cref="SimulationFailedException">The file cannot be read, or a user is not <c>name:password</c>.</exception>
    public static SimulatedUsers Read(IReadOnlyList<string> given, string? file)
    {
        var users = new SimulatedUsers();
        for (int i = 0; i < given.Count; i++)
        {
            // A text that is not a user may be a password: no message shows it.
            users.Add(given[i], $"--user number {i + 1}");
        }

        if (file is not null)
        {
            string[] lines = ReadFile(file);
            for (int i = 0; i < lines.Length; i++)
            {
                if (lines[i].Length != 0 && lines[i][0] != '#')
                {
                    users.Add(lines[i], $"Line {i + 1} of {file}");
                }
            }
        }

        return users;
    }

    /// <summary>Whether there is a user with this name and password.</summary>
    public bool Has(string name, string password) =>
        _passwords.TryGetValue(name, out byte[]? known) && CryptographicOperations.FixedTimeEquals(known, Encoding.UTF8.GetBytes(password));

    private static string[] ReadFile(string file)
    {
        try
        {
            return File.ReadAllLines(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SimulationFailedException($"--users: {e.Message}", ExitCode.Usage, e);
        }
    }

    private void Add(string user, string place)
    {
        int colon = user.IndexOf(':', StringComparison.Ordinal);
        if (colon <= 0)
        {
            throw new SimulationFailedException($"{place} is not a user; give NAME:PASSWORD.", ExitCode.Usage);
        }

        if (!_passwords.TryAdd(user[..colon], Encoding.UTF8.GetBytes(user[(colon + 1)..])))
        {
            throw new SimulationFailedException($"{place} has the name of another user.", ExitCode.Usage);
        }
    }
}
