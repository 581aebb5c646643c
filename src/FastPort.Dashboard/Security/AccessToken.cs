using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Http;

namespace FastPort.Dashboard.Security;

/// <summary>
/// The token, and the cookie that a browser gets for it. The cookie's value is derived from the token, so that it is still valid after a
/// restart of the server; the token cannot be derived from it. Immutable.
/// </summary>
internal sealed class AccessToken
{
    private const string Scheme = "Bearer ";

    private readonly byte[] _tokenHash;

    public AccessToken(string token)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(token);
        _tokenHash = SHA256.HashData(bytes);
        Cookie = Convert.ToHexString(HMACSHA256.HashData(bytes, "FastPort dashboard cookie"u8));
        CookieName = $"fastport-dashboard-{Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(Cookie)))[..8]}";
    }

    /// <summary>
    /// The cookie's name. A browser sends the cookies of all ports of a machine to each, so dashboards with different tokens have different
    /// names.
    /// </summary>
    public string CookieName { get; }

    /// <summary>The cookie's value.</summary>
    public string Cookie { get; }

    /// <summary>Whether a text is the token. Takes the same time for every text of a length.</summary>
    public bool Is(string text) => CryptographicOperations.FixedTimeEquals(SHA256.HashData(Encoding.UTF8.GetBytes(text)), _tokenHash);

    /// <summary>Whether a browser has sent the cookie.</summary>
    public bool HasCookie(HttpRequest request) =>
        request.Cookies.TryGetValue(CookieName, out string? value)
        && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(value), Encoding.UTF8.GetBytes(Cookie));

    /// <summary>The token that a program has sent; null if it has sent none.</summary>
    public static string? Sent(HttpRequest request) =>
        request.Headers.Authorization is [{ } value] && value.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
            ? value[Scheme.Length..] : null;
}
