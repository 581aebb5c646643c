using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace FastPort.Comparisons.Hostile;

/// <summary>Makes JSON Web Tokens: good ones, those of yesterday or for somebody else, and forgeries.</summary>
internal sealed class HostileTokens : IDisposable
{
    private const string Audience = "fastport";

    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly ECDsa _strangersKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly DateTimeOffset _now = TimeProvider.System.GetUtcNow();

    /// <summary>The key that the server is told, as PEM.</summary>
    public string PublicKeyPem() => _key.ExportSubjectPublicKeyInfoPem();

    /// <summary>What a user with a password shows.</summary>
    public static string Basic(string user, string password) =>
        $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}"))}";

    /// <summary>A token that is good for a day.</summary>
    public string Good(string user, string role) => Signed(_key, Claims(user, role, Audience, _now.AddDays(1)));

    /// <summary>Signed by the right key, but for another time or another service.</summary>
    public IReadOnlyList<string> Replayed() =>
    [
        Signed(_key, Claims("good", "good", Audience, _now.AddHours(-1))),
        Signed(_key, Claims("good", "good", "another-service", _now.AddDays(1))),
    ];

    /// <summary>Signed by nobody who may: no signature, another key, changed claims, a public key used as a secret.</summary>
    public IReadOnlyList<string> Forged()
    {
        byte[] claims = Claims("good", "good", Audience, _now.AddDays(1));
        string[] guest = Good("guest", "guest").Split('.');
        string secret = $"{Text("{\"alg\":\"HS256\",\"typ\":\"JWT\"}")}.{Base64Url.EncodeToString(claims)}";
        byte[] mac = HMACSHA256.HashData(Encoding.ASCII.GetBytes(PublicKeyPem()), Encoding.ASCII.GetBytes(secret));
        return
        [
            $"{Text("{\"alg\":\"none\",\"typ\":\"JWT\"}")}.{Base64Url.EncodeToString(claims)}.",
            Signed(_strangersKey, claims),
            $"{guest[0]}.{Base64Url.EncodeToString(claims)}.{guest[2]}",
            $"{secret}.{Base64Url.EncodeToString(mac)}",
            "not.a.token",
        ];
    }

    public void Dispose()
    {
        _key.Dispose();
        _strangersKey.Dispose();
    }

    private static byte[] Claims(string user, string role, string audience, DateTimeOffset end) => JsonSerializer.SerializeToUtf8Bytes(
        new Dictionary<string, object>(StringComparer.Ordinal)
        {
            ["sub"] = user,
            ["roles"] = new[] { role },
            ["aud"] = audience,
            ["nbf"] = end.AddDays(-2).ToUnixTimeSeconds(),
            ["exp"] = end.ToUnixTimeSeconds(),
        });

    private static string Signed(ECDsa key, byte[] claims)
    {
        string text = $"{Text("{\"alg\":\"ES256\",\"typ\":\"JWT\"}")}.{Base64Url.EncodeToString(claims)}";
        byte[] signature = key.SignData(
            Encoding.ASCII.GetBytes(text), HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
        return $"{text}.{Base64Url.EncodeToString(signature)}";
    }

    private static string Text(string json) => Base64Url.EncodeToString(Encoding.ASCII.GetBytes(json));
}
