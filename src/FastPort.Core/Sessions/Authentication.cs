using System.Security.Claims;

namespace FastPort;

/// <summary>The contents of a Hello and the session it came from.</summary>
/// <param name="RoutingId">The requested routing id; empty for none.</param>
/// <param name="Token">The token; empty for none. A secret: never log it.</param>
/// <param name="ClientName">The peer's name for itself.</param>
/// <param name="Session">The session, not yet identified.</param>
public sealed record HelloRequest(string RoutingId, string Token, string ClientName, Session Session)
{
    /// <summary>All members except the token, which must not appear in logs.</summary>
    public override string ToString() => $"Hello {{ RoutingId = {RoutingId}, ClientName = {ClientName}, Session = {Session.Id} }}";
}

/// <summary>An authenticator's verdict. Immutable.</summary>
public sealed class AuthenticationResult
{
    private AuthenticationResult(bool isAccepted, ClaimsPrincipal? user, DateTimeOffset? expiresAt, string message)
    {
        IsAccepted = isAccepted;
        User = user;
        ExpiresAt = expiresAt;
        Message = message;
    }

    /// <summary>Whether the peer is accepted.</summary>
    public bool IsAccepted { get; }

    /// <summary>The identity; null for an accepted anonymous peer.</summary>
    public ClaimsPrincipal? User { get; }

    /// <summary>When the identity ends, and with it the session; null for never.</summary>
    public DateTimeOffset? ExpiresAt { get; }

    /// <summary>Sentence for the refused peer; empty if it is accepted.</summary>
    public string Message { get; }

    /// <summary>Accepts the peer.</summary>
    /// <param name="user">The peer's identity, for <see cref="Session.User"/>. Defaults to none: an anonymous peer.</param>
    /// <param name="expiresAt">
    /// When the session must end: it then says Goodbye with code <see cref="ErrorCode.Unauthenticated"/>, answers the requests in
    /// flight and closes. A time that has passed refuses the peer. Defaults to null: never.
    /// </param>
    public static AuthenticationResult Accept(ClaimsPrincipal? user = null, DateTimeOffset? expiresAt = null) =>
        new(isAccepted: true, user, expiresAt, string.Empty);

    /// <summary>Refuses the peer: it receives Unauthenticated and is disconnected.</summary>
    /// <param name="message">Sentence for the peer. It must not contain internals.</param>
    public static AuthenticationResult Refuse(string message = "The token was refused.") => new(isAccepted: false, null, null, message);
}

/// <summary>Why a Hello was refused, for records of the server. Immutable.</summary>
public sealed class HelloRefusal
{
    internal HelloRefusal(string clientName, ErrorCode code, string message) =>
        (ClientName, Code, Message) = (clientName, code, message);

    /// <summary>The peer's name for itself; empty for none, or one that is not allowed.</summary>
    public string ClientName { get; }

    /// <summary>The answer to the peer.</summary>
    public ErrorCode Code { get; }

    /// <summary>Sentence that may contain more than the answer to the peer. It may quote the peer: escape it in a log.</summary>
    public string Message { get; }
}

/// <summary>
/// Turns Hello's token into an identity or a refusal. If one is configured, a session's first frame must be a Hello. An exception, or no
/// answer in time, is not a verdict: the peer receives <see cref="ErrorCode.Unavailable"/> and may retry, while a client does not
/// retry with a refused token.
/// </summary>
/// <param name="hello">The contents of the Hello.</param>
/// <param name="cancellationToken">Canceled when the session ends first, or the time for the answer is over.</param>
public delegate ValueTask<AuthenticationResult> Authenticator(HelloRequest hello, CancellationToken cancellationToken);

/// <summary>The message that a session wants to send, for an <see cref="Authorizer"/>.</summary>
public readonly record struct AuthorizationRequest
{
    internal AuthorizationRequest(Session session, ushort type)
    {
        Session = session;
        Type = type;
    }

    /// <summary>The session.</summary>
    public Session Session { get; }

    /// <summary>The message type; <see cref="Framing.ControlType"/> names the types used for routing.</summary>
    public ushort Type { get; }

    /// <summary>The prefix of a Subscribe or Unsubscribe, or the topic of a Publish; may be empty. Null for all other types.</summary>
    public string? Topic { get; internal init; }

    /// <summary>The routing id that a Relay is addressed to; may be empty. Null for all other types.</summary>
    public string? Target { get; internal init; }

    internal bool IsAddressed => Topic is not null || Target is not null;
}

/// <summary>
/// Decides whether a session may send a message, by the message's type and, for routing messages, by topic or target. Called for every
/// message before its handler, so it must be fast or cache its answers. After <see cref="SessionOptions.AuthorizationTimeout"/> the message
/// is refused.
/// </summary>
/// <param name="request">The message that the session wants to send.</param>
/// <param name="cancellationToken">Canceled when the session ends first, or the time for the answer is over.</param>
public delegate ValueTask<bool> Authorizer(AuthorizationRequest request, CancellationToken cancellationToken);
