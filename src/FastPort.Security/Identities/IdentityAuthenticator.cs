using System.Globalization;
using System.Security.Claims;
using FastPort.Security.Audit;
using FastPort.Security.Bans;

namespace FastPort.Security.Identities;

/// <summary>
/// Turns a Hello into an identity: by its token if it has one, else by the Unix user or the client certificate, else as anonymous if that
/// is allowed. Thread-safe.
/// </summary>
internal sealed class IdentityAuthenticator(
    SecurityOptions options,
    PasswordAuthentication? passwords,
    TokenAuthentication? tokens,
    SecurityEvents events,
    AutomaticBans? bans)
{
    /// <summary>Whether peers that do not authenticate are accepted.</summary>
    public bool AllowsAnonymous => options.AllowAnonymous;

    /// <summary>Checks a Hello.</summary>
    /// <param name="hello">The Hello.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    public async ValueTask<AuthenticationResult> AuthenticateAsync(HelloRequest hello, CancellationToken cancellationToken)
    {
        AuthenticationResult result = await CheckAsync(hello, cancellationToken).ConfigureAwait(false);
        if (!result.IsAccepted && cancellationToken.IsCancellationRequested)
        {
            // The server reports the Hellos that it refuses, but not this one: its peer no longer waits.
            events.HelloRefused(hello.Session, hello.ClientName, result.Message);
            bans?.Refused(hello.Session.RemoteEndPoint);
        }

        return result;
    }

    private ValueTask<AuthenticationResult> CheckAsync(HelloRequest hello, CancellationToken cancellationToken) =>
        hello.Token.Length == 0 ? new(WithoutToken(hello.Session))
        : PasswordAuthentication.IsFor(hello.Token)
            ? passwords?.AuthenticateAsync(hello.Token, hello.Session.RemoteEndPoint, cancellationToken) ?? new(NoSuch("passwords"))
        : tokens?.AuthenticateAsync(hello.Token, hello.Session.RemoteEndPoint, cancellationToken) ?? new(NoSuch("JSON Web Tokens"));

    private AuthenticationResult WithoutToken(Session session)
    {
        if (options.UnixUsers && session.Connection.UnixPeer is { } peer)
        {
            return AuthenticationResult.Accept(Of(peer));
        }

        // Not anonymous if the name is missing: the peer has authenticated, and would silently lack its permissions.
        if (options.CertificateUsers != CertificateName.None && session.Tls?.PeerCertificate is { } certificate)
        {
            return CertificateAuthentication.Authenticate(certificate, options.CertificateUsers);
        }

        return options.AllowAnonymous
            ? AuthenticationResult.Accept()
            : AuthenticationResult.Refuse(options.CertificateUsers == CertificateName.None
                ? "This server demands a token; set one in the client's options."
                : "This server demands a token or a client certificate; set one in the client's options.");
    }

    private static ClaimsPrincipal Of(UnixPeer peer) => UserIdentity.Of(
        "unix",
        string.Create(CultureInfo.InvariantCulture, $"uid:{peer.UserId}"),
        [string.Create(CultureInfo.InvariantCulture, $"gid:{peer.GroupId}")]);

    private static AuthenticationResult NoSuch(string kind) => AuthenticationResult.Refuse($"This server does not accept {kind}.");
}
