using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;
using FastPort.Logging;
using FastPort.Security.Audit;
using FastPort.Security.Bans;
using FastPort.Security.Files;
using FastPort.Security.Identities;
using FastPort.Security.Policies;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Hosting;

/// <summary>The security of one server: the components that its options select, created with the server, disposed with the host.</summary>
internal sealed class ServerSecurity : IAsyncDisposable
{
    private readonly AuditLog? _log;
    private readonly SecurityEvents _events;
    private readonly PasswordAuthentication? _passwords;
    private readonly TokenAuthentication? _tokens;
    private readonly IdentityAuthenticator? _authenticator;
    private readonly ServerPolicy? _policy;
    private readonly BanList _bans;
    private readonly Lazy<UserDirectory> _users;
    private readonly WatchedFile<IReadOnlyList<Ban>>? _bansFile;
    private readonly ILogger _logger;
    private readonly AutomaticBans? _automatic;
    private IReadOnlyList<Ban> _bansOfFile = [];
    private CertificateChains? _chains;

    // When a token was last said to have no roles.
    private long _rolesWarnedAt = long.MinValue;

    // The server's: the application may have set its own.
    private volatile BanList _serverBans;

    /// <summary>Reads the files.</summary>
    /// <param name="options">The options.</param>
    /// <param name="server">The server's name; empty for none.</param>
    /// <param name="tls">How the server checks clients' certificates.</param>
    /// <param name="time">Source of time.</param>
    /// <param name="logger">Logs changes.</param>
    /// <param name="routing">The server's routing; called when a policy has changed.</param>
    /// <exception cref="FastPortOptionsException">Files cannot be used; the message names all of them with every problem.</exception>
    public ServerSecurity(
        SecurityOptions options, string server, TlsServerOptions tls, TimeProvider time, ILogger logger, Func<ServerRouting> routing)
    {
        List<string> problems = [];
        try
        {
            _log = options.AuditFile.Length == 0 ? null : new AuditLog(options.AuditFile, time, logger);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            problems.Add($"The audit log {options.AuditFile} cannot be written. {e.Message}");
        }

        _events = new SecurityEvents(_log, server, time);
        _logger = SafeLogger.Of(logger);
        _serverBans = _bans = new BanList(time);
        _bansFile = Watch(options.BansFile, "bans", BanFile.MaxBytes, BanFile.Read, CreateBansFile);
        _passwords = Watch(options.UsersFile, "users", UserFile.MaxBytes, UserFile.Read) is { } users
            ? new PasswordAuthentication(users)
            : null;
        if (Watch(options.TokenKeysFile, "token keys", TokenKeys.MaxBytes, TokenKeys.Read) is { } keys)
        {
            _tokens = new TokenAuthentication(keys, options, time) { Accepted = WarnOfRoles };
            keys.Follow(LogLeftOut);
        }

        _policy = Watch(options.PolicyFile, "policy", PolicyReader.MaxBytes, static (b, p) => PolicyReader.Read(b, p)) is { } policy
            ? new ServerPolicy(policy, options, time, _events, routing, logger)
            : null;
        ThrowProblems();
        _bansFile?.Follow(BansFileChanged);

        // Not before: the bans of the file were reported when they were added.
        _bans.Added += Banned;
        _bans.Lifted += Lifted;

        AutomaticBans? automatic = _automatic = options.BanAfterRefusals == 0
            ? null
            : new AutomaticBans(options.BanAfterRefusals, options.BanTime, _bans, _bansFile, time, logger);
        _authenticator = options.HasIdentities ? new IdentityAuthenticator(options, _passwords, _tokens, _events, automatic) : null;
        _users = new Lazy<UserDirectory>(() =>
        {
            _chains = options.CertificateUsers == CertificateName.None ? null : CreateChains();
            return new UserDirectory(options, _passwords, _chains, _events, automatic, () => _serverBans);
        });

        CertificateChains CreateChains()
        {
            WatchedFile<X509Certificate2Collection>? authorities = Watch(
                tls.ClientAuthorityFile, "client authorities", CertificateChains.MaxBytes, CertificateChains.Read);
            ThrowProblems();
            return new CertificateChains(authorities!, tls.Revocation, options.CertificateUsers, time);
        }

        void ThrowProblems()
        {
            if (problems.Count != 0)
            {
                throw new FastPortOptionsException(problems);
            }
        }

        void WarnOfRoles(ClaimsPrincipal user)
        {
            // By one of several that come at once.
            long last = Volatile.Read(ref _rolesWarnedAt);
            long now = time.GetTimestamp();
            if (_policy?.HasNoRoleOf(user) == true
                && (last == long.MinValue || time.GetElapsedTime(last, now) >= TimeSpan.FromHours(1))
                && Interlocked.CompareExchange(ref _rolesWarnedAt, now, last) == last)
            {
                FileLog.NoRole(_logger, user.FindAll(options.TokenRolesClaim).Count(), options.TokenRolesClaim);
            }
        }

        void LogLeftOut(TokenKeys keys)
        {
            foreach (string key in keys.LeftOut)
            {
                FileLog.KeyLeftOut(_logger, options.TokenKeysFile, key);
            }
        }

        WatchedFile<T>? Watch<T>(
            string path, string what, int maxBytes, Func<byte[], ICollection<string>, T?> read, Action<string>? create = null)
            where T : class
        {
            if (path.Length == 0)
            {
                return null;
            }

            try
            {
                create?.Invoke(path);
                WatchedFile<T> file = new(path, what, maxBytes, read, options.ReloadInterval, time, logger);
                file.Changed += _ => _events.Reloaded(what, path);
                return file;
            }
            catch (SecurityFileException e)
            {
                problems.Add(e.Message);
                return null;
            }
        }
    }

    /// <summary>Sets the parts that the options name.</summary>
    public void Apply(FastPortServerComponents components)
    {
        if (components.Bans is not null && (_bansFile is not null || _automatic is not null))
        {
            throw new FastPortOptionsException([
                "Security:BansFile and Security:BanAfterRefusals ban in the server's own list, but the application has set another list as "
                + "Bans of its components. Set none, and ban with FastPortServer.Bans, or leave both options out."]);
        }

        if (components.Authenticator is null && _authenticator is not null)
        {
            components.Authenticator = _authenticator.AuthenticateAsync;
            components.AllowsAnonymous = _authenticator.AllowsAnonymous;
        }

        _serverBans = components.Bans ??= _bans;
        components.Authorizer ??= _policy is null ? null : _policy.AuthorizeAsync;
    }

    /// <summary>The policy; null for none.</summary>
    public ServerPolicy? Policy => _policy;

    /// <summary>The users for other doors.</summary>
    public UserDirectory Users => _users.Value;

    /// <summary>Counts and audits what happens.</summary>
    public SecurityEvents Events => _events;

    /// <summary>The server has refused a Hello.</summary>
    public void HelloRefused(Session session, HelloRefusal refusal)
    {
        // Reported before it may ban: the ban closes the session.
        _events.HelloRefused(session, refusal.ClientName, refusal.Message);
        if (refusal.Code == ErrorCode.Unauthenticated)
        {
            _automatic?.Refused(session.RemoteEndPoint);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _bansFile?.Dispose();
        _policy?.Dispose();
        _chains?.Dispose();
        _tokens?.Dispose();
        _passwords?.Dispose();
        _events.Dispose();
        if (_log is not null)
        {
            await _log.DisposeAsync().ConfigureAwait(false);
        }
    }

    private static void CreateBansFile(string path)
    {
        try
        {
            BanFiles.Create(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SecurityFileException("bans", path, [e.Message], e);
        }
    }

    // One call at a time. Bans of the program stay: they are not in the file.
    private void BansFileChanged(IReadOnlyList<Ban> now)
    {
        IReadOnlyList<Ban> before = _bansOfFile;
        _bansOfFile = now;
        _bans.Replace(before, now);
    }

    private void Banned(Ban ban)
    {
        BanLog.Added(_logger, ban);
        _events.Banned(ban);
    }

    private void Lifted(Ban ban)
    {
        BanLog.Lifted(_logger, ban.Subject);
        _events.BanLifted(ban);
    }
}
