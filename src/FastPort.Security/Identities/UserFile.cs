using System.Collections.Concurrent;
using System.Security.Claims;
using System.Text;

namespace FastPort.Security.Identities;

/// <summary>
/// The users of a small site, one per line: <c>name:hash</c> or <c>name:hash:role,role</c>; empty lines and lines that begin with <c>#</c>
/// are ignored. Immutable but for <see cref="Verified"/>; thread-safe.
/// </summary>
internal sealed class UserFile
{
    /// <summary>Size of a file in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 16 * 1024 * 1024;

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly Dictionary<string, User> _users;

    // Hashes of no user, one for each cost in the file. Each name is verified against one hash of each cost, whether it exists or not, so
    // that the time does not reveal which names exist.
    private readonly PasswordHash[] _nobodys;

    private UserFile(Dictionary<string, User> users)
    {
        _users = users;
        _nobodys = users.Count == 0
            ? [PasswordHash.OfNobody(null)]
            : [.. users.Values.Select(static user => user.Hash).DistinctBy(static hash => hash.Cost).Select(PasswordHash.OfNobody)];
    }

    /// <summary>
    /// The verified results for this content of the file, by a key that the caller derives from a name and a password. It is dropped with
    /// it: results for the previous content no longer count.
    /// </summary>
    public ConcurrentDictionary<string, ClaimsPrincipal> Verified { get; } = new(StringComparer.Ordinal);

    /// <summary>Number of users.</summary>
    public int Count => _users.Count;

    /// <summary>Reads a file.</summary>
    /// <param name="utf8">The text.</param>
    /// <param name="problems">Receives one sentence for each line that is wrong, without the hash.</param>
    /// <returns>Null if there is an error.</returns>
    public static UserFile? Read(byte[] utf8, ICollection<string> problems)
    {
        int before = problems.Count;
        string text;
        try
        {
            text = Utf8.GetString(utf8);
        }
        catch (DecoderFallbackException)
        {
            problems.Add("It is not UTF-8.");
            return null;
        }

        Dictionary<string, User> users = new(StringComparer.Ordinal);
        int number = 0;
        foreach (string line in text.TrimStart('\uFEFF').Split('\n'))
        {
            number++;
            string trimmed = line.Trim();
            if (trimmed.Length == 0 || trimmed[0] == '#')
            {
                continue;
            }

            string[] parts = trimmed.Split(':');
            if (parts.Length is not (2 or 3) || parts[0].Length == 0)
            {
                problems.Add($"Line {number} is not name:hash or name:hash:role,role.");
            }
            else if (!UserNames.IsAllowed(parts[0]))
            {
                // The name is not repeated: it may be long, or unsuitable for a log line.
                problems.Add($"Line {number}: the name cannot be a user's: {UserNames.Rules}.");
            }
            else if (PasswordHash.TryParse(parts[1]) is not { } hash)
            {
                problems.Add(
                    $"Line {number}, user '{parts[0]}': the hash is not Argon2id in PHC format; create it with the command users set.");
            }
            else if (!users.TryAdd(parts[0], new User(parts[0], hash, parts.Length == 3 ? Roles(parts[2]) : [])))
            {
                problems.Add($"Line {number}: user '{parts[0]}' is already listed.");
            }
        }

        return problems.Count == before ? new UserFile(users) : null;
    }

    /// <summary>The identity of a user; null if there is no such user or the password is wrong. Takes milliseconds of a core.</summary>
    public ClaimsPrincipal? Verify(string name, string password)
    {
        User? user = _users.GetValueOrDefault(name);
        bool isRight = false;
        foreach (PasswordHash hash in HashesFor(user?.Hash))
        {
            isRight |= hash.Verify(password) && hash == user?.Hash;
        }

        return isRight ? user!.Identity() : null;
    }

    /// <summary>The hashes to verify for a name: its hash, if it has one, and for each other cost a hash of no user.</summary>
    internal IEnumerable<PasswordHash> HashesFor(PasswordHash? own) =>
        _nobodys.Select(nobody => own is not null && own.Cost == nobody.Cost ? own : nobody);

    /// <summary>The hash of a user; null for none.</summary>
    internal PasswordHash? HashOf(string name) => _users.GetValueOrDefault(name)?.Hash;

    private static string[] Roles(string text) => text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);

    private sealed record User(string Name, PasswordHash Hash, string[] Roles)
    {
        public ClaimsPrincipal Identity() => UserIdentity.Of("password", Name, Roles);
    }
}
