using FastPort.Configuration;

namespace FastPort.Security;

/// <summary>
/// Options of a server's identities, permissions and audit; a host binds them from configuration section <c>Security</c>. Files are checked
/// every <see cref="ReloadInterval"/>, and changes take effect without a restart.
/// </summary>
public sealed class SecurityOptions : IDescribedOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "Security";

    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    /// <summary>
    /// File with the users of the token <c>Basic base64(user:password)</c>, one per line: <c>name:hash:role,role</c> with an Argon2id hash
    /// in the PHC format. Defaults to empty: no such users.
    /// </summary>
    public string UsersFile { get; set; } = string.Empty;

    /// <summary>
    /// File with the keys that sign JSON Web Tokens: a JSON Web Key Set, or public keys or certificates in PEM. During a rotation it holds
    /// both the old and the new key. Defaults to empty: no such tokens.
    /// </summary>
    public string TokenKeysFile { get; set; } = string.Empty;

    /// <summary>The audience (<c>aud</c>) that a token must have. Defaults to <c>fastport</c>.</summary>
    public string TokenAudience { get; set; } = "fastport";

    /// <summary>The issuer (<c>iss</c>) that a token must have; empty for any. Defaults to empty.</summary>
    public string TokenIssuer { get; set; } = string.Empty;

    /// <summary>The claim with the user's name. Defaults to <c>sub</c>.</summary>
    public string TokenNameClaim { get; set; } = "sub";

    /// <summary>
    /// The claim with the user's roles: an array, or a string. For a nested claim, names separated by dots, such as Keycloak's
    /// <c>realm_access.roles</c>; a claim whose name is the whole string takes precedence. Defaults to <c>roles</c>.
    /// </summary>
    public string TokenRolesClaim { get; set; } = "roles";

    /// <summary>
    /// The separator of the roles if the claim is a string, such as a space in <c>"operator night"</c>. Defaults to empty: the string is
    /// one role.
    /// </summary>
    public string TokenRolesSeparator { get; set; } = string.Empty;

    /// <summary>
    /// The time before its <c>nbf</c> from which a token is accepted, to allow for clock differences; 0 to an hour. Its expiry (<c>exp</c>)
    /// is exact: the session ends with it. Defaults to 30 s.
    /// </summary>
    public TimeSpan TokenClockSkew { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Whether a peer without a token is accepted, as <c>anonymous</c> in the policy. Defaults to false: if there are users, token keys,
    /// Unix users or certificate users, a peer must be one of them.
    /// </summary>
    public bool AllowAnonymous { get; set; }

    /// <summary>
    /// Whether a peer of a Unix socket that sends no token is identified by its user id, which the kernel reports, as user <c>uid:1000</c>
    /// with role <c>gid:1000</c>. Defaults to false.
    /// </summary>
    public bool UnixUsers { get; set; }

    /// <summary>
    /// The name in the client certificate that identifies the user of a peer of a <c>tls://</c> endpoint that sends no token; the user has
    /// no roles. A certificate without that name is refused. The server must request certificates of a configured authority
    /// (<see cref="TlsServerOptions.ClientCertificates"/>, <see cref="TlsServerOptions.ClientAuthorityFile"/>). Defaults to
    /// <see cref="CertificateName.None"/>: certificates do not identify users.
    /// </summary>
    public CertificateName CertificateUsers { get; set; }

    /// <summary>File with the policy, which defines permissions. Defaults to empty: every accepted peer may do everything.</summary>
    public string PolicyFile { get; set; } = string.Empty;

    /// <summary>Whether actions that the policy forbids are only audited and counted, but still executed. Defaults to false.</summary>
    public bool PolicyReportOnly { get; set; }

    /// <summary>
    /// The audit log: connections, refusals and changes, with their peers; one JSON object per line. It can be renamed at any time; a new
    /// file is then started. Defaults to empty: no log is written.
    /// </summary>
    public string AuditFile { get; set; } = string.Empty;

    /// <summary>
    /// The ban file: addresses and identities that may not connect for a limited time, one JSON object per line. The command <c>bans</c>
    /// changes it, as does the server for <see cref="BanAfterRefusals"/>. It is created if it does not exist. Defaults to empty: bans are
    /// in memory only.
    /// </summary>
    public string BansFile { get; set; } = string.Empty;

    /// <summary>
    /// Refused Hellos of one address, for IPv6 of one /64 network, within <see cref="BanTime"/> that ban it; 0 to 10,000, 0 for none. An
    /// address in <see cref="RateOptions.Exempt"/> is not rejected even then. Defaults to 0.
    /// </summary>
    public int BanAfterRefusals { get; set; }

    /// <summary>How long such a ban lasts; 1 s to 30 days. Defaults to 10 minutes.</summary>
    public TimeSpan BanTime { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>How often the files are checked for changes; 1 s to an hour. Defaults to 5 s.</summary>
    public TimeSpan ReloadInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Whether peers must, or may, authenticate.</summary>
    internal bool HasIdentities =>
        UsersFile.Length != 0 || TokenKeysFile.Length != 0 || UnixUsers || CertificateUsers != CertificateName.None;

    void IDescribedOptions.Describe(OptionSection section)
    {
        UsersFile = Optional(nameof(UsersFile), UsersFile);
        TokenKeysFile = Optional(nameof(TokenKeysFile), TokenKeysFile);
        TokenAudience = Needed(nameof(TokenAudience), TokenAudience, "tokens are for one audience");
        TokenIssuer = Optional(nameof(TokenIssuer), TokenIssuer);
        TokenNameClaim = Needed(nameof(TokenNameClaim), TokenNameClaim, "the claim with the user's name");
        TokenRolesClaim = Needed(nameof(TokenRolesClaim), TokenRolesClaim, "the claim with the user's roles");
        TokenRolesSeparator = Optional(nameof(TokenRolesSeparator), TokenRolesSeparator);
        TokenClockSkew = section.Time(nameof(TokenClockSkew), TokenClockSkew, TimeSpan.Zero, Hour);
        AllowAnonymous = section.Flag(nameof(AllowAnonymous), AllowAnonymous);
        UnixUsers = section.Flag(nameof(UnixUsers), UnixUsers);
        CertificateUsers = section.Choice(nameof(CertificateUsers), CertificateUsers);
        PolicyFile = Optional(nameof(PolicyFile), PolicyFile);
        PolicyReportOnly = section.Flag(nameof(PolicyReportOnly), PolicyReportOnly);
        AuditFile = Optional(nameof(AuditFile), AuditFile);
        BansFile = Optional(nameof(BansFile), BansFile);
        BanAfterRefusals = section.Number(nameof(BanAfterRefusals), BanAfterRefusals, 0, 10_000);
        BanTime = section.Time(nameof(BanTime), BanTime, TimeSpan.FromSeconds(1), TimeSpan.FromDays(30));
        ReloadInterval = section.Time(nameof(ReloadInterval), ReloadInterval, TimeSpan.FromSeconds(1), Hour);

        string Optional(string key, string value) =>
            section.Text(key, value, static text => text is not null, "give a string, empty for none") ?? string.Empty;
        string Needed(string key, string value, string why) =>
            section.Text(key, value, static text => !string.IsNullOrEmpty(text), $"give a string: {why}") ?? string.Empty;
    }
}
