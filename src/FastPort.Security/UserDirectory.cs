using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;
using FastPort.Security.Audit;
using FastPort.Security.Bans;
using FastPort.Security.Identities;

namespace FastPort.Security;

/// <summary>
/// The users of a server, for entry points other than its endpoints, such as a server of another protocol in the same program, which then
/// accepts the same users as the server. A service of the host under the server's name. Every check is counted and audited, refusals also
/// count toward <see cref="SecurityOptions.BanAfterRefusals"/>, and banned users are refused. Safe from any thread.
/// </summary>
public sealed class UserDirectory
{
    private readonly SecurityOptions _options;
    private readonly PasswordAuthentication? _passwords;
    private readonly CertificateChains? _chains;
    private readonly SecurityEvents _events;
    private readonly AutomaticBans? _automatic;
    private readonly Func<BanList> _bans;

    internal UserDirectory(
        SecurityOptions options,
        PasswordAuthentication? passwords,
        CertificateChains? chains,
        SecurityEvents events,
        AutomaticBans? automatic,
        Func<BanList> bans) =>
        (_options, _passwords, _chains, _events, _automatic, _bans) = (options, passwords, chains, events, automatic, bans);

    /// <summary>Whether there are users with names and passwords (<see cref="SecurityOptions.UsersFile"/>).</summary>
    public bool HasPasswords => _passwords is not null;

    /// <summary>Whether there are users with certificates (<see cref="SecurityOptions.CertificateUsers"/>).</summary>
    public bool HasCertificates => _chains is not null;

    /// <summary>
    /// Whether peers that do not authenticate are accepted: no users are configured, or <see cref="SecurityOptions.AllowAnonymous"/> is
    /// set.
    /// </summary>
    public bool AllowsAnonymous => _options.AllowAnonymous || !_options.HasIdentities;

    /// <summary>Finds a user by name and password. Passwords are hashed on the thread pool, a few at a time.</summary>
    /// <param name="name">The name.</param>
    /// <param name="password">The password.</param>
    /// <param name="peer">The user's address, for the audit log and bans of the address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    /// <returns>
    /// The identity with its roles; null if there is no such user, the password is wrong, or the user is banned. Only the audit log says
    /// which.
    /// </returns>
    /// <exception cref="OperationCanceledException">The peer has gone.</exception>
    public async ValueTask<ClaimsPrincipal?> FindAsync(
        string name, string password, EndPoint? peer, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(password);
        AuthenticationResult result = _passwords is null
            ? AuthenticationResult.Refuse("This server does not accept passwords.")
            : await _passwords.AuthenticateAsync(name, password, peer, cancellationToken).ConfigureAwait(false);
        return Decide(result, name, "password", peer);
    }

    /// <summary>
    /// Finds a user by certificate: its chain must lead to an authority of <see cref="TlsServerOptions.ClientAuthorityFile"/>, which
    /// also contains the intermediate authorities, and it must have the name that <see cref="SecurityOptions.CertificateUsers"/> selects.
    /// The caller must check that its owner has the key. The chain is built on the thread pool.
    /// </summary>
    /// <param name="certificate">The certificate; not used when the returned task has completed.</param>
    /// <param name="peer">The user's address, for the audit log and bans of the address; null if unknown.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone.</param>
    /// <returns>
    /// The identity; null if the certificate does not identify a user, or the user is banned. Only the audit log says which.
    /// </returns>
    /// <exception cref="OperationCanceledException">The peer has gone.</exception>
    public async ValueTask<ClaimsPrincipal?> FindAsync(
        X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(certificate);
        AuthenticationResult result = _chains is null
            ? AuthenticationResult.Refuse("This server does not accept certificates as users.")
            : await _chains.AuthenticateAsync(certificate, peer, cancellationToken).ConfigureAwait(false);
        string? name = _chains is null ? null : CertificateNames.Find(certificate, _chains.Kind);
        return Decide(result, name, "certificate", peer);
    }

    private ClaimsPrincipal? Decide(AuthenticationResult result, string? name, string by, EndPoint? peer)
    {
        if (!result.IsAccepted)
        {
            _automatic?.Refused(peer);
        }
        else if (_bans().Find(result.User!.Identity!.Name!) is { } ban)
        {
            // Not counted against the address: a ban is not a wrong guess.
            result = AuthenticationResult.Refuse(ban.ToString());
        }

        // A stranger may give a name of any length.
        string? shown = name is { Length: > UserNames.MaxLength } ? name[..UserNames.MaxLength] : name;
        _events.UserChecked(peer, shown, by, result);
        return result.User;
    }
}
