using System.Globalization;
using System.Net;
using System.Security.Claims;
using System.Text.Json;
using FastPort.Security.Files;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace FastPort.Security.Identities;

/// <summary>
/// Checks JSON Web Tokens (RFC 7519): signed with one of the keys, for this audience, not expired. A token without an expiry is refused.
/// Thread-safe.
/// </summary>
internal sealed class TokenAuthentication : IDisposable
{
    private const string Scheme = "Bearer ";

    private readonly JsonWebTokenHandler _handler = new() { MapInboundClaims = false, MaximumTokenSizeInBytes = 16 * 1024 };
    private readonly WatchedFile<TokenKeys> _keys;
    private readonly SecurityOptions _options;
    private readonly TimeProvider _time;
    private readonly VerificationQueue _queue = new();

    /// <summary>Creates the check.</summary>
    /// <param name="keys">The keys; disposed with this object.</param>
    /// <param name="options">Issuer, audience and claims.</param>
    /// <param name="time">Source of time.</param>
    public TokenAuthentication(WatchedFile<TokenKeys> keys, SecurityOptions options, TimeProvider time) =>
        (_keys, _options, _time) = (keys, options, time);

    /// <summary>Called with the identity of each accepted token.</summary>
    public Action<ClaimsPrincipal>? Accepted { get; init; }

    /// <summary>Checks a token.</summary>
    /// <param name="token">The token, with or without <c>Bearer</c> before it.</param>
    /// <param name="peer">The peer's address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    public async ValueTask<AuthenticationResult> AuthenticateAsync(string token, EndPoint? peer, CancellationToken cancellationToken)
    {
        string compact = token.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) ? token[Scheme.Length..].Trim() : token;
        DateTimeOffset now = _time.GetUtcNow();
        TokenValidationParameters parameters = new()
        {
            IssuerSigningKeys = _keys.Current.Keys,
            TryAllIssuerSigningKeys = true,
            RequireSignedTokens = true,
            RequireExpirationTime = true,
            ValidateAudience = true,
            ValidAudience = _options.TokenAudience,
            ValidateIssuer = _options.TokenIssuer.Length != 0,
            ValidIssuer = _options.TokenIssuer.Length != 0 ? _options.TokenIssuer : null,
            ValidateLifetime = true,
            LifetimeValidator = (notBefore, expires, _, _) =>
                expires is { } end && end > now.UtcDateTime && !(notBefore > now.UtcDateTime + _options.TokenClockSkew),
            NameClaimType = _options.TokenNameClaim,
            RoleClaimType = _options.TokenRolesClaim,
            AuthenticationType = "token",
        };
        TokenValidationResult result = await _queue.RunAsync(
            peer, () => _handler.ValidateTokenAsync(compact, parameters), cancellationToken).ConfigureAwait(false);
        if (!result.IsValid)
        {
            return AuthenticationResult.Refuse(WhatIsWrong(result, compact, now));
        }

        if (HasCriticalHeader(result))
        {
            return AuthenticationResult.Refuse("The token's header has extensions (crit) that this server does not understand.");
        }

        if (string.IsNullOrEmpty(result.ClaimsIdentity.Name))
        {
            return AuthenticationResult.Refuse($"The token has no claim '{_options.TokenNameClaim}', which names its user.");
        }

        if (!UserNames.IsAllowed(result.ClaimsIdentity.Name))
        {
            return AuthenticationResult.Refuse(
                $"The token's claim '{_options.TokenNameClaim}' cannot be a user's name: {UserNames.Rules}.");
        }

        SetRoles(result);
        var user = new ClaimsPrincipal(result.ClaimsIdentity);
        Accepted?.Invoke(user);
        return AuthenticationResult.Accept(user, new DateTimeOffset(result.SecurityToken.ValidTo, TimeSpan.Zero));
    }

    public void Dispose() => _keys.Dispose();

    // RFC 7515, 4.1.11: a recipient that does not understand one of these extensions must refuse the token. None is supported here.
    private static bool HasCriticalHeader(TokenValidationResult result)
    {
        using JsonDocument header = Part(((JsonWebToken)result.SecurityToken).EncodedHeader);
        return header.RootElement.TryGetProperty("crit", out _);
    }

    private void SetRoles(TokenValidationResult result)
    {
        ClaimsIdentity identity = result.ClaimsIdentity;
        foreach (Claim claim in identity.FindAll(_options.TokenRolesClaim).ToArray())
        {
            identity.RemoveClaim(claim);
        }

        using JsonDocument claims = Part(((JsonWebToken)result.SecurityToken).EncodedPayload);
        identity.AddClaims(TokenRoles.Find(claims.RootElement, _options.TokenRolesClaim, _options.TokenRolesSeparator)
            .Select(role => new Claim(_options.TokenRolesClaim, role, ClaimValueTypes.String, result.Issuer)));
    }

    // The library has read it before.
    private static JsonDocument Part(string encoded) => JsonDocument.Parse(Base64UrlEncoder.DecodeBytes(encoded));

    // Describes what the owner of a token can fix; contains nothing of the token but its times and names.
    private string WhatIsWrong(TokenValidationResult result, string compact, DateTimeOffset now) => result.Exception switch
    {
        SecurityTokenSignatureKeyNotFoundException => "The token is signed with a key that this server does not know.",
        SecurityTokenInvalidSignatureException => "The token's signature is wrong, or it has none.",
        SecurityTokenInvalidAudienceException => $"The token is not for '{_options.TokenAudience}'.",
        SecurityTokenInvalidIssuerException => $"The token was not issued by '{_options.TokenIssuer}'.",
        SecurityTokenNoExpirationException => "The token has no expiry (exp); issue one with it.",
        SecurityTokenInvalidLifetimeException => WhenIsWrong(compact, now),
        _ => "The token is not a valid JSON Web Token.",
    };

    private string WhenIsWrong(string compact, DateTimeOffset now)
    {
        JsonWebToken token = _handler.ReadJsonWebToken(compact);
        return token.ValidTo == DateTime.MinValue ? "The token has no expiry (exp); issue one with it."
            : token.ValidTo <= now.UtcDateTime ? $"The token expired at {Shown(token.ValidTo)}."
            : $"The token is not valid before {Shown(token.ValidFrom)}.";

        static string Shown(DateTime time) => time.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture);
    }
}
