using System.Globalization;
using System.Security.Cryptography;
using NSec.Cryptography;

namespace FastPort.Security.Identities;

/// <summary>
/// Argon2id hashes of passwords (RFC 9106), as text in the PHC format: <c>$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH</c>. Immutable.
/// </summary>
internal sealed class PasswordHash
{
    // OWASP's first choice: 19 MiB and two passes, some 12 ms of one core.
    private const int MemoryKiB = 19 * 1024;
    private const int Passes = 2;
    private const int SaltBytes = 16;
    private const int HashBytes = 32;

    // Bounds of a file's parameters: a verification must not take the server's memory, or seconds.
    private const int MaxMemoryKiB = 256 * 1024;
    private const int MaxPasses = 16;

    private readonly int _memory;
    private readonly int _passes;
    private readonly byte[] _salt;
    private readonly byte[] _hash;

    private PasswordHash(int memory, int passes, byte[] salt, byte[] hash) =>
        (_memory, _passes, _salt, _hash) = (memory, passes, salt, hash);

    /// <summary>What a verification takes.</summary>
    public (int MemoryKiB, int Passes) Cost => (_memory, _passes);

    /// <summary>Hashes a password with a new salt.</summary>
    public static PasswordHash Create(string password)
    {
        byte[] salt = RandomNumberGenerator.GetBytes(SaltBytes);
        return new PasswordHash(MemoryKiB, Passes, salt, Derive(password, MemoryKiB, Passes, salt, HashBytes));
    }

    /// <summary>A hash of no known password, as expensive as the other one, or as a new one if that is null.</summary>
    public static PasswordHash OfNobody(PasswordHash? asDearAs) => new(
        asDearAs?._memory ?? MemoryKiB,
        asDearAs?._passes ?? Passes,
        RandomNumberGenerator.GetBytes(SaltBytes),
        RandomNumberGenerator.GetBytes(HashBytes));

    /// <summary>Reads the text of a hash; null if it is not a hash, or requires more than 256 MiB or 16 passes.</summary>
    public static PasswordHash? TryParse(string text)
    {
        string[] parts = text.Split('$');
        if (parts is not ["", "argon2id", "v=19", var costs, var salt, var hash]
            || costs.Split(',') is not [['m', '=', .. var m], ['t', '=', .. var t], "p=1"]
            || !TryNumber(m, 8, MaxMemoryKiB, out int memory)
            || !TryNumber(t, 1, MaxPasses, out int passes)
            || TryDecode(salt) is not { Length: SaltBytes } saltBytes
            || TryDecode(hash) is not { Length: >= 16 and <= 64 } hashBytes)
        {
            return null;
        }

        return new PasswordHash(memory, passes, saltBytes, hashBytes);
    }

    /// <summary>Whether this is the password. Takes the same time for every answer.</summary>
    public bool Verify(string password) =>
        CryptographicOperations.FixedTimeEquals(Derive(password, _memory, _passes, _salt, _hash.Length), _hash);

    /// <summary>The text of the hash.</summary>
    public override string ToString() => $"$argon2id$v=19$m={_memory},t={_passes},p=1${Encode(_salt)}${Encode(_hash)}";

    private static byte[] Derive(string password, int memory, int passes, byte[] salt, int bytes) =>
        PasswordBasedKeyDerivationAlgorithm
            .Argon2id(new Argon2Parameters { DegreeOfParallelism = 1, MemorySize = memory, NumberOfPasses = passes })
            .DeriveBytes(password, salt, bytes);

    private static bool TryNumber(string text, int minimum, int maximum, out int number) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number) && number >= minimum && number <= maximum;

    private static string Encode(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=');

    private static byte[]? TryDecode(string text)
    {
        byte[] bytes = new byte[text.Length];
        string padded = text.PadRight((text.Length + 3) / 4 * 4, '=');
        return Convert.TryFromBase64String(padded, bytes, out int count) ? bytes[..count] : null;
    }
}
