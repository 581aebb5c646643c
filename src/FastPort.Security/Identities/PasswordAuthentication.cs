using System.Buffers.Binary;
using System.Net;
using System.Runtime.InteropServices;
using System.Security.Claims;
using System.Security.Cryptography;
using System.Text;
using FastPort.Security.Files;

namespace FastPort.Security.Identities;

/// <summary>
/// Checks names and passwords, also those of <c>Basic base64(user:password)</c>, against the user file. Verified passwords are remembered,
/// as keyed hashes, until the file changes, so that thousands of clients that reconnect at once do not cost a hash each. Thread-safe.
/// </summary>
internal sealed class PasswordAuthentication : IDisposable
{
    private const string Scheme = "Basic ";
    private const int MaxRemembered = 10_000;

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly WatchedFile<UserFile> _file;
    private readonly VerificationQueue _queue = new();
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    /// <summary>Creates the check.</summary>
    /// <param name="file">The users; disposed with this object.</param>
    public PasswordAuthentication(WatchedFile<UserFile> file) => _file = file;

    /// <summary>Whether a token is for this check.</summary>
    public static bool IsFor(string token) => token.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase);

    /// <summary>Checks a token.</summary>
    /// <param name="token">The token.</param>
    /// <param name="peer">The peer's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    public ValueTask<AuthenticationResult> AuthenticateAsync(string token, EndPoint? peer, CancellationToken cancellationToken) =>
        TryRead(token, out string name, out string password)
            ? AuthenticateAsync(name, password, peer, cancellationToken)
            : new(AuthenticationResult.Refuse("The token is not Basic with base64 of user:password in UTF-8."));

    /// <summary>Checks a name and a password.</summary>
    /// <param name="name">The name.</param>
    /// <param name="password">The password.</param>
    /// <param name="peer">The peer's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    public async ValueTask<AuthenticationResult> AuthenticateAsync(
        string name, string password, EndPoint? peer, CancellationToken cancellationToken)
    {
        UserFile users = _file.Current;
        string remembered = Hash(name, password);
        if (users.Verified.TryGetValue(remembered, out ClaimsPrincipal? known))
        {
            return AuthenticationResult.Accept(known);
        }

        ClaimsPrincipal? user = await _queue.RunAsync(peer, () => Task.FromResult(users.Verify(name, password)), cancellationToken)
            .ConfigureAwait(false);
        if (user is null)
        {
            return AuthenticationResult.Refuse("The user name or the password is wrong.");
        }

        if (users.Verified.Count < MaxRemembered)
        {
            users.Verified[remembered] = user;
        }

        return AuthenticationResult.Accept(user);
    }

    public void Dispose() => _file.Dispose();

    // The length of the name separates it from the password, regardless of their characters.
    private string Hash(string name, string password)
    {
        using var hash = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, _key);
        Span<byte> length = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(length, name.Length);
        hash.AppendData(length);
        hash.AppendData(MemoryMarshal.AsBytes(name.AsSpan()));
        hash.AppendData(MemoryMarshal.AsBytes(password.AsSpan()));
        return Convert.ToBase64String(hash.GetHashAndReset());
    }

    internal static bool TryRead(string token, out string name, out string password)
    {
        name = password = string.Empty;
        byte[] bytes = new byte[token.Length];
        if (!Convert.TryFromBase64String(token[Scheme.Length..].Trim(), bytes, out int count))
        {
            return false;
        }

        try
        {
            string text = Utf8.GetString(bytes, 0, count);
            int colon = text.IndexOf(':', StringComparison.Ordinal);
            (name, password) = colon < 0 ? (string.Empty, string.Empty) : (text[..colon], text[(colon + 1)..]);
            return colon > 0;
        }
        catch (DecoderFallbackException)
        {
            return false;
        }
    }
}
