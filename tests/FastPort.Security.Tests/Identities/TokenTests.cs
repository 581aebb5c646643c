using System.Security.Claims;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <summary>JSON Web Tokens, made by hand as any issuer makes them, against a server.</summary>
public sealed partial class TokenTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly FakeTimeProvider _time = new();
    private readonly ECDsa _key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly RSA _rsa = RSA.Create(2048);

    public void Dispose()
    {
        _directory.Dispose();
        _key.Dispose();
        _rsa.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_good_token_is_an_identity_with_roles(bool bearer)
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();

        await server.ConnectAsync((bearer ? "Bearer " : string.Empty) + Token(_key, "k1"));

        Session session = Assert.Single(server.Server.Sessions);
        Assert.Equal("anna", session.User!.Identity!.Name);
        Assert.True(session.User.IsInRole("operator") && session.User.IsInRole("night"));
    }

    [Fact]
    public async Task At_its_end_the_session_gets_Goodbye_with_code_5()
    {
        WriteKeys(Jwk(_key, "k1"));

        // The clock runs faster than the client answers.
        await using SecureServer server = await StartAsync(
            server: static o => o.Session.IdleTimeout = o.Session.HeartbeatInterval = TimeSpan.Zero);
        FastPortClient client = server.Client(Token(_key, "k1"));
        var reason = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Disconnected += (_, why) => reason.TrySetResult(why);
        await client.ConnectAsync().InTimeAsync();

        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(1));
                return reason.Task.IsCompleted;
            },
            "the token has expired");

        Assert.Equal(ErrorCode.Unauthenticated, (await reason.Task).GetErrorCode());
        Assert.True(_time.Elapsed >= TimeSpan.FromMinutes(5), $"It ended after {_time.Elapsed}.");
    }

    public static TheoryData<string, string, string> Refused => new()
    {
        { """{ "sub": "anna", "aud": "fastport", "exp": 0 }""", "ES256", "expired at 1970-01-01 00:00:00Z" },
        { """{ "sub": "anna", "aud": "fastport", "exp": 300, "nbf": 31 }""", "ES256", "not valid before 1970-01-01 00:00:31Z" },
        { """{ "sub": "anna", "aud": "fastport" }""", "ES256", "no expiry (exp)" },
        { """{ "sub": "anna\u200b", "aud": "fastport", "exp": 300 }""", "ES256", "claim 'sub' cannot be a user's name" },
        { """{ "sub": "anna", "aud": "other", "exp": 300 }""", "ES256", "not for 'fastport'" },
        { """{ "sub": "anna", "exp": 300 }""", "ES256", "not for 'fastport'" },
        { """{ "aud": "fastport", "exp": 300 }""", "ES256", "no claim 'sub'" },
        { """{ "sub": "anna", "aud": "fastport", "exp": 300 }""", "none", "signature is wrong, or it has none" },
        { """{ "sub": "anna", "aud": "fastport", "exp": 300 }""", "HS256", "" },
        { """{ "sub": "anna", "aud": "fastport", "exp": "soon" }""", "ES256", "" },
    };

    [Theory]
    [MemberData(nameof(Refused))]
    public async Task What_is_wrong_with_a_token_is_said_to_its_owner(string claims, string algorithm, string problem)
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();
        string head = Encode($$"""{"alg":"{{algorithm}}","kid":"k1"}""");
        string signed = $"{head}.{Encode(claims)}";
        string signature = algorithm switch
        {
            "ES256" => Encode(_key.SignData(Encoding.ASCII.GetBytes(signed), HashAlgorithmName.SHA256)),

            // The public key as the secret of a symmetric signature: the classic confusion.
            "HS256" => Encode(HMACSHA256.HashData(
                Encoding.ASCII.GetBytes(_key.ExportSubjectPublicKeyInfoPem()), Encoding.ASCII.GetBytes(signed))),
            _ => string.Empty,
        };

        RequestFailedException e = await RefusedAsync(server, $"{signed}.{signature}");

        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_key_of_somebody_else_and_a_changed_token_are_refused()
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();
        using ECDsa other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        string good = Token(_key, "k1");

        await RefusedAsync(server, Token(other, "k1"));
        await RefusedAsync(server, Token(other, "k2"));
        await RefusedAsync(server, good[..^8] + (good[^8] == 'A' ? 'B' : 'A') + good[^7..]);
        await RefusedAsync(server, "nonsense");
        await RefusedAsync(server, "..");
        await RefusedAsync(server, new string('a', 15_000));
    }

    [Fact]
    public async Task An_issuer_is_demanded_where_it_is_configured()
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync(static o => o.TokenIssuer = "https://issuer");

        await RefusedAsync(server, Token(_key, "k1"));
        await server.ConnectAsync(Token(_key, "k1", issuer: "https://issuer"));
    }

    /// <summary>RFC 7515, 4.1.11.</summary>
    [Theory]
    [InlineData("""{"alg":"ES256","crit":["b64"],"b64":true}""")]
    [InlineData("""{"alg":"ES256","crit":["exp"],"exp":300}""")]
    [InlineData("""{"alg":"ES256","\u0063rit":["urn:example:policy"],"urn:example:policy":1}""")]
    [InlineData("""{"alg":"ES256","crit":[]}""")]
    [InlineData("""{"alg":"ES256","crit":null}""")]
    public async Task A_token_with_an_extension_that_must_be_understood_is_refused(string head)
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync();

        RequestFailedException e = await RefusedAsync(server, Sign(_key, "ES256", head, Claims("https://other")));

        Assert.Contains("extensions (crit)", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("roles", "", """ "roles": ["operator", "night"] """)]
    [InlineData("roles", "", """ "roles": "operator night" """, "operator night")]
    [InlineData("roles", " ", """ "roles": " operator  night" """)]
    [InlineData("scope", " ", """ "scope": "operator night" """)]
    [InlineData("roles", ",", """ "roles": "operator, night" """)]
    [InlineData("realm_access.roles", "", """ "realm_access": { "roles": ["operator", "night"] } """)]
    [InlineData("resource_access.my.client.roles", "", """ "resource_access": { "my.client": { "roles": ["operator", "night"] } } """)]
    [InlineData("https://example.com/roles", "", """ "https://example.com/roles": ["operator", "night"] """)]
    [InlineData("a.b", "", """ "a": { "b": "wrong" }, "a.b": ["operator", "night"] """)]
    [InlineData("realm_access.roles", "", """ "realm_access": ["operator"], "roles": ["operator"] """, "")]
    [InlineData("roles", "", """ "roles": [["operator"], null, {"a": 1}, 7] """, "7")]
    public async Task Roles_are_where_the_issuer_puts_them(string claim, string separator, string claims, string roles = "operator,night")
    {
        WriteKeys(Jwk(_key, "k1"));
        await using SecureServer server = await StartAsync(
            o => (o.TokenRolesClaim, o.TokenRolesSeparator) = (claim, separator));

        await server.ConnectAsync(TokenOf(claims));

        ClaimsPrincipal user = Assert.Single(server.Server.Sessions).User!;
        Assert.Equal(
            roles, string.Join(',', user.FindAll(((ClaimsIdentity)user.Identity!).RoleClaimType).Select(static one => one.Value)));
        Assert.All(roles.Split(','), role => Assert.True(role.Length == 0 || user.IsInRole(role)));
    }

    [Theory]
    [InlineData("role:operator", """ "roles": ["operator"] """, 0)]
    [InlineData("role:oper*", """ "roles": ["operator"] """, 0)]
    [InlineData("user:anna", """ "realm_access": { "roles": ["operator"] } """, 0)]
    [InlineData("role:operator", """ "realm_access": { "roles": ["operator"] } """, 1)]
    [InlineData("role:operator", """ "roles": "operator night" """, 1)]
    public async Task A_token_without_a_role_of_the_policy_is_warned_of_once_an_hour(string whom, string claims, int warnings)
    {
        WriteKeys(Jwk(_key, "k1"));
        await File.WriteAllTextAsync(
            _directory["policy"],
            $$"""{ "rules": [ { "for": ["{{whom}}"], "send": ["*"] } ] }""",
            TestContext.Current.CancellationToken);
        await using SecureServer server = await StartAsync(
            o => o.PolicyFile = _directory["policy"],
            static o => o.Session.IdleTimeout = o.Session.HeartbeatInterval = TimeSpan.Zero);

        await server.ConnectAsync(TokenOf(claims));
        await server.ConnectAsync(TokenOf(claims));
        Assert.Equal(warnings, server.Log.WithId(9104).Count);
        _time.Advance(TimeSpan.FromHours(1));
        await server.ConnectAsync(TokenOf(claims));

        Assert.Equal(2 * warnings, server.Log.WithId(9104).Count);
        Assert.All(server.Log.WithId(9104), static line => Assert.Contains("TokenRolesClaim", line.Text, StringComparison.Ordinal));
    }

    private static async Task<RequestFailedException> RefusedAsync(SecureServer server, string token)
    {
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => server.ConnectAsync(token));
        Assert.Equal(ErrorCode.Unauthenticated, e.Code);
        Assert.DoesNotContain(server.Log.Lines, line => token.Length > 8 && line.Text.Contains(token, StringComparison.Ordinal));
        return e;
    }

    private Task<SecureServer> StartAsync(
        Action<SecurityOptions>? configure = null, Action<FastPortServerOptions>? server = null) => SecureServer.StartAsync(
        o =>
        {
            o.TokenKeysFile = _directory["keys"];
            configure?.Invoke(o);
        },
        time: _time,
        server: server);

    private void WriteKeys(params string[] keys) =>
        File.WriteAllText(_directory["keys"], $$"""{ "keys": [ {{string.Join(", ", keys)}} ] }""");

    private static string Jwk(AsymmetricAlgorithm key, string id)
    {
        var jwk = new Dictionary<string, string>(StringComparer.Ordinal) { ["use"] = "sig", ["kid"] = id };
        if (key is ECDsa curve)
        {
            ECParameters parameters = curve.ExportParameters(includePrivateParameters: false);
            (jwk["kty"], jwk["crv"]) = ("EC", $"P-{curve.KeySize}");
            (jwk["x"], jwk["y"]) = (Encode(parameters.Q.X!), Encode(parameters.Q.Y!));
        }
        else
        {
            RSAParameters parameters = ((RSA)key).ExportParameters(includePrivateParameters: false);
            (jwk["kty"], jwk["n"], jwk["e"]) = ("RSA", Encode(parameters.Modulus!), Encode(parameters.Exponent!));
        }

        return JsonSerializer.Serialize(jwk);
    }

    private static string Token(ECDsa key, string? id, string issuer = "https://other") => Sign(
        key,
        "ES256",
        id is null ? """{"alg":"ES256","typ":"JWT"}""" : $$"""{"alg":"ES256","typ":"JWT","kid":"{{id}}"}""",
        Claims(issuer));

    // Of the first key, with these claims besides those that each token needs.
    private string TokenOf(string claims) => Sign(
        _key, "ES256", """{"alg":"ES256","kid":"k1"}""", $$"""{ "sub": "anna", "aud": "fastport", "exp": 9000, {{claims}} }""");

    private static string Sign(AsymmetricAlgorithm key, string algorithm, string head, string claims)
    {
        string signed = $"{Encode(head)}.{Encode(claims)}";
        byte[] bytes = Encoding.ASCII.GetBytes(signed);
        HashAlgorithmName hash = algorithm[2..] switch
        {
            "256" => HashAlgorithmName.SHA256,
            "384" => HashAlgorithmName.SHA384,
            _ => HashAlgorithmName.SHA512,
        };
        byte[] signature = key is ECDsa curve
            ? curve.SignData(bytes, hash)
            : ((RSA)key).SignData(
                bytes, hash, algorithm[0] == 'P' ? RSASignaturePadding.Pss : RSASignaturePadding.Pkcs1);
        return $"{signed}.{Encode(signature)}";
    }

    private static string Claims(string issuer) =>
        $$"""{ "sub": "anna", "aud": ["fastport", "web"], "exp": 300, "nbf": 10, "iss": "{{issuer}}", "roles": ["operator", "night"] }""";

    private static string Certificate(AsymmetricAlgorithm key)
    {
        CertificateRequest request = key is ECDsa curve
            ? new CertificateRequest("CN=issuer", curve, HashAlgorithmName.SHA256)
            : new CertificateRequest("CN=issuer", (RSA)key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using X509Certificate2 certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow, DateTimeOffset.UtcNow.AddDays(1));
        return certificate.ExportCertificatePem();
    }

    private static string Encode(string text) => Encode(Encoding.UTF8.GetBytes(text));

    private static string Encode(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
}
