using System.Security.Cryptography;
using System.Text.RegularExpressions;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <content>The file of keys: its kinds of keys, and how they change.</content>
public sealed partial class TokenTests
{
    [Fact]
    public async Task Keys_are_rotated_without_a_restart()
    {
        using ECDsa next = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();
        FastPortClient before = await server.ConnectAsync(Token(_key, "k1"));
        await RefusedAsync(server, Token(next, "k2"));

        WriteKeys(Jwk(_key, "k1"), Jwk(next, "k2"));
        server.Look();
        await server.ConnectAsync(Token(next, "k2"));
        WriteKeys(Jwk(next, "k2"));
        server.Look();

        await RefusedAsync(server, Token(_key, "k1"));
        Assert.NotNull(before.Session);
        await before.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
    }

    [Theory]
    [InlineData("""{ "kty": "EC", "crv": "P-256", "kid": "k2", "x": "AAAA", "y": "AAAA" }""", "is damaged")]
    [InlineData("""{ "kty": "EC", "crv": "P-256", "kid": "k2", "x": "AAAA" }""", "is damaged")]
    [InlineData("""{ "kty": "RSA", "kid": "k2", "n": "AQAB" }""", "is damaged")]
    [InlineData("""{ "kty": "RSA", "kid": "k2", "n": "*", "e": "AQAB" }""", "is damaged")]
    [InlineData("""{ "kty": "RSA", "kid": "k2", "n": "AQAB", "e": "AQAB", "x5c": ["AAAA"] }""", "is damaged")]
    [InlineData("""{ "kid": "k2" }""", "is damaged")]
    [InlineData("""{ "kty": "RSA", "kid": "k2", "n": "AQAB", "e": "AQAB", "d": "AQAB" }""", "has a secret part")]
    [InlineData("""{ "kty": "oct", "kid": "k2", "k": "AAAA" }""", "has a secret part")]
    public async Task A_rotation_with_a_key_that_cannot_be_used_leaves_the_keys_of_before(string key, string problem)
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();

        WriteKeys(key);
        server.Look();
        using ECDsa next = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        WriteKeys(Jwk(next, "k3"), key);
        server.Look();

        Assert.Equal(
            [$"Its key 1 'k2' {problem}", $"Its key 2 'k2' {problem}"],
            server.Log.WithId(9101).Select(static line => Regex.Match(line.Text, "Its key . 'k2' (is damaged|has a secret part)").Value));
        Assert.Empty(server.Log.WithId(9100));
        await server.ConnectAsync(Token(_key, "k1"));
        await RefusedAsync(server, Token(next, "k3"));
    }

    [Fact]
    public async Task Keys_for_other_uses_and_of_unknown_kinds_are_left_out_and_the_latter_are_named()
    {
        string[] others =
        [
            """{ "kty": "RSA", "use": "enc", "kid": "e", "n": "AQAB", "e": "AQAB" }""",
            """{ "kty": "OKP", "crv": "Ed25519", "kid": "ed\n", "x": "AAAA" }""",
            """{ "kty": "EC", "crv": "P-999", "kid": "far", "x": "AAAA", "y": "AAAA" }""",
        ];
        WriteKeys([.. others, Jwk(_key, "k1")]);
        await using SecureServer server = await StartAsync();

        await server.ConnectAsync(Token(_key, "k1"));
        WriteKeys([others[1], Jwk(_key, "k1")]);
        server.Look();

        await server.ConnectAsync(Token(_key, "k1"));
        Assert.Equal(
            ["key 2", "key 3 'far'", "key 1"],
            server.Log.WithId(9103).Select(static line => Regex.Match(line.Text, "key [^ ]+( '.*')?").Value));
    }

    public static TheoryData<string, string> KindsOfKeys => new()
    {
        { "jwk", "ES256" }, { "jwk", "ES384" }, { "jwk", "ES512" }, { "jwk", "RS256" },
        { "spki", "ES256" }, { "spki", "ES384" }, { "spki", "ES512" }, { "spki", "RS256" }, { "spki", "PS256" },
        { "pkcs1", "RS256" },
        { "certificate", "ES256" }, { "certificate", "ES384" }, { "certificate", "ES512" }, { "certificate", "RS256" },
    };

    /// <summary>Every kind that docs/identities.md names.</summary>
    [Theory]
    [MemberData(nameof(KindsOfKeys))]
    public async Task Each_kind_of_key_verifies_a_token(string kind, string algorithm)
    {
        using AsymmetricAlgorithm key = algorithm switch
        {
            "ES256" => ECDsa.Create(ECCurve.NamedCurves.nistP256),
            "ES384" => ECDsa.Create(ECCurve.NamedCurves.nistP384),
            "ES512" => ECDsa.Create(ECCurve.NamedCurves.nistP521),
            _ => RSA.Create(2048),
        };
        string text = kind switch
        {
            "jwk" => $$"""{ "keys": [ {{Jwk(key, algorithm)}} ] }""",
            "spki" => key.ExportSubjectPublicKeyInfoPem(),
            "pkcs1" => ((RSA)key).ExportRSAPublicKeyPem(),
            _ => Certificate(key),
        };
        await File.WriteAllTextAsync(_directory["keys"], text, TestContext.Current.CancellationToken);
        await using SecureServer server = await StartAsync();

        await server.ConnectAsync(Sign(key, algorithm, $$"""{"alg":"{{algorithm}}"}""", Claims("https://other")));
    }

    [Fact]
    public async Task Certificates_of_two_kinds_with_no_line_end_between_them_are_both_read()
    {
        string both = Certificate(_key) + Certificate(_rsa);
        await File.WriteAllTextAsync(_directory["keys"], both, TestContext.Current.CancellationToken);
        await using SecureServer server = await StartAsync();

        await server.ConnectAsync(Token(_key, null));
        await server.ConnectAsync(Sign(_rsa, "RS256", """{"alg":"RS256"}""", Claims("https://other")));
    }

    [Theory]
    [InlineData("", "no key")]
    [InlineData("{}", "no key")]
    [InlineData("{ \"keys\": [", "neither")]
    [InlineData("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "a private key does not belong here")]
    [InlineData("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "Its block 1, PUBLIC KEY, cannot be used")]
    [InlineData("-----BEGIN PUBLIC KEY-----\nAAAA\n", "Its block 1, BEGIN PUBLIC KEY in line 1, has no line END PUBLIC KEY.")]
    [InlineData("-----BEGIN PUBLIC KEY-----\nAAA\n-----END PUBLIC KEY-----", "Its block 1, PUBLIC KEY, is not base64")]
    [InlineData("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "Its block 1, CERTIFICATE, cannot be used")]
    public async Task A_file_without_a_key_does_not_start(string text, string problem)
    {
        await File.WriteAllTextAsync(_directory["keys"], text, TestContext.Current.CancellationToken);

        var e = await Assert.ThrowsAsync<FastPortOptionsException>(() => StartAsync());

        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
        Assert.Contains(_directory["keys"], e.Message, StringComparison.Ordinal);
    }

    /// <summary>It would be accepted, and refuse every token.</summary>
    [Theory]
    [InlineData("PUBLIC KEY")]
    [InlineData("CERTIFICATE")]
    public async Task A_key_of_a_curve_that_signs_no_tokens_does_not_start(string label)
    {
        using var key = ECDsa.Create(ECCurve.CreateFromFriendlyName("secP256k1"));
        string text = label == "CERTIFICATE" ? Certificate(key) : key.ExportSubjectPublicKeyInfoPem();
        await File.WriteAllTextAsync(_directory["keys"], text, TestContext.Current.CancellationToken);

        var e = await Assert.ThrowsAsync<FastPortOptionsException>(() => StartAsync());

        Assert.Contains(
            $"Its block 1, {label}, cannot be used: its curve is none of P-256, P-384 and P-521.", e.Message, StringComparison.Ordinal);
    }
}
