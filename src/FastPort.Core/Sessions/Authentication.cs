using System.Security.Claims;

namespace FastPort.Sessions;

/// <summary>What a Hello said and where it came from.</summary>
/// <param name="RoutingId">The routing id asked for; empty for none.</param>
/// <param name="Token">The token; empty for none. A secret: never log it.</param>
/// <param name="ClientName">The peer's own name for itself.</param>
/// <param name="Session">The session, not yet identified.</param>
public sealed record HelloRequest(string RoutingId, string Token, string ClientName, Session Session)
{
    /// <summary>Everything but the token, which must not get into logs.</summary>
    public override string ToString() => $"Hello {{ RoutingId = {RoutingId}, ClientName = {ClientName}, Session = {Session.Id} }}";
}

/// <summary>An authenticator's verdict. Immutable.</summary>
public sealed class AuthenticationResult
{
    private AuthenticationResult(bool isAccepted, ClaimsPrincipal? user, string message)
    {
        IsAccepted = isAccepted;
        User = user;
        Message = message;
    }

    /// <summary>Whether the peer is who it says.</summary>
    public bool IsAccepted { get; }

    /// <summary>The identity; null for an accepted anonymous peer.</summary>
    public ClaimsPrincipal? User { get; }

    /// <summary>Sentence for the refused peer.</summary>
    public string Message { get; }

    /// <summary>The peer is accepted.</summary>
    /// <param name="user">Its identity, for <see cref="Session.User"/>.</param>
    public static AuthenticationResult Accept(ClaimsPrincipal? user = null) => new(isAccepted: true, user, string.Empty);

    /// <summary>The peer is refused with Unauthenticated and disconnected.</summary>
    /// <param name="message">Sentence for the peer; name no internals.</param>
    public static AuthenticationResult Refuse(string message = "The token was refused.") => new(isAccepted: false, null, message);
}

/// <summary>Turns Hello's token into an identity or a refusal. With one configured, a session's first frame must be a Hello.</summary>
/// <param name="hello">What the peer said.</param>
/// <param name="cancellationToken">Cancelled when the session ends first, or the answer is not waited for any longer.</param>
public delegate ValueTask<AuthenticationResult> Authenticator(HelloRequest hello, CancellationToken cancellationToken);

/// <summary>What a session wants to do, for an <see cref="Authorizer"/>.</summary>
public readonly record struct AuthorizationRequest
{
    internal AuthorizationRequest(Session session, ushort type)
    {
        Session = session;
        Type = type;
    }

    /// <summary>The session.</summary>
    public Session Session { get; }

    /// <summary>The message type; <see cref="Framing.ControlType"/> names those of routing.</summary>
    public ushort Type { get; }

    /// <summary>Of Subscribe and Unsubscribe the prefix, of Publish the topic; may be empty. Null for all other types.</summary>
    public string? Topic { get; internal init; }

    /// <summary>Of Relay the routing id that it is for; may be empty. Null for all other types.</summary>
    public string? Target { get; internal init; }

    internal bool IsAddressed => Topic is not null || Target is not null;
}

/// <summary>
/// Says whether a session may send a message: by its type, and where it is about routing by its topic or target. Asked for every message
/// before its handler, so keep it quick or cache. After <see cref="SessionOptions.AuthorizationTimeout"/> the message is refused.
/// </summary>
/// <param name="request">What the session wants to do.</param>
/// <param name="cancellationToken">Canceled when the session ends first, or the answer is not waited for any longer.</param>
public delegate ValueTask<bool> Authorizer(AuthorizationRequest request, CancellationToken cancellationToken);
