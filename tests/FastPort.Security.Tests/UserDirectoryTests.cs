using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests;

/// <summary>The users of a server as another door of the program asks for them.</summary>
public sealed class UserDirectoryTests : IDisposable
{
    private static readonly IPEndPoint Peer = new(IPAddress.Parse("203.0.113.7"), 4000);

    private readonly TemporaryDirectory _directory = new();
    private readonly CertificateSite _site = new();

    public void Dispose()
    {
        _site.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Passwords_are_those_of_the_file_and_names_may_have_what_tokens_cannot()
    {
        UserFiles.Set(_directory["users"], "anna", "b:c", ["operator"]);
        await using SecureServer server = await StartAsync();

        Assert.True(server.Users is { HasPasswords: true, HasCertificates: false, AllowsAnonymous: false });
        ClaimsPrincipal anna = (await FindAsync(server, "anna", "b:c"))!;
        Assert.Equal(("anna", "password"), (anna.Identity!.Name, anna.Identity.AuthenticationType));
        Assert.True(anna.IsInRole("operator"));

        // Remembered, and only for this name and this password.
        Assert.Same(anna, await FindAsync(server, "anna", "b:c"));
        Assert.Null(await FindAsync(server, "anna:b", "c"));
        Assert.Null(await FindAsync(server, "anna", "b"));
        Assert.Null(await FindAsync(server, "bert", "b:c"));
        Assert.Null(await FindAsync(server, string.Empty, string.Empty));
        using X509Certificate2 certificate = _site.Issue("anna").Certificate;
        Assert.Null(await server.Users.FindAsync(certificate, Peer, CancellationToken.None));
    }

    [Fact]
    public async Task A_file_that_changes_and_a_ban_count_here_too()
    {
        UserFiles.Set(_directory["users"], "anna", "old", []);
        await using SecureServer server = await StartAsync();
        Assert.NotNull(await FindAsync(server, "anna", "old"));

        UserFiles.Set(_directory["users"], "anna", "new", []);
        server.Look();
        Assert.Null(await FindAsync(server, "anna", "old"));
        Assert.NotNull(await FindAsync(server, "anna", "new"));

        server.Server.Bans.Add(new Ban("user:anna", server.Time.GetUtcNow() + TimeSpan.FromHours(1)));
        Assert.Null(await FindAsync(server, "anna", "new"));
        Assert.True(server.Server.Bans.Lift("user:anna"));
        Assert.NotNull(await FindAsync(server, "anna", "new"));
    }

    [Fact]
    public async Task Who_guesses_passwords_is_banned_for_all_doors()
    {
        UserFiles.Set(_directory["users"], "anna", "a", []);
        await using SecureServer server = await StartAsync(static o => o.BanAfterRefusals = 3);
        for (int i = 0; i < 3; i++)
        {
            Assert.Null(await FindAsync(server, "anna", $"{i}"));
        }

        await Patience.UntilAsync(() => server.Server.Bans.Entries.Count != 0, "the address is banned");
        Assert.Equal("203.0.113.7", Assert.Single(server.Server.Bans.Entries).Subject);
        Assert.NotNull(server.Server.Bans.Find(Peer));
    }

    [Fact]
    public async Task Checks_are_audited_with_name_and_address_and_without_secrets()
    {
        UserFiles.Set(_directory["users"], "anna", "right-secret", []);
        await using (SecureServer server = await StartAsync(o => o.AuditFile = _directory["audit"]))
        {
            await FindAsync(server, "anna", "right-secret");
            await FindAsync(server, "x\n\"event\":\"" + new string('x', 1000), "wrong-secret");
        }

        string text = await File.ReadAllTextAsync(_directory["audit"], TestContext.Current.CancellationToken);
        Assert.DoesNotContain("secret", text, StringComparison.Ordinal);
        JsonElement[] lines =
            [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => JsonDocument.Parse(line).RootElement)];
        Assert.Equal(["user.accepted", "user.refused"], lines.Select(static line => line.GetProperty("event").GetString()));
        Assert.All(lines, static line => Assert.Equal("203.0.113.7:4000", line.GetProperty("remote").GetString()));
        Assert.All(lines, static line => Assert.Equal("password", line.GetProperty("by").GetString()));
        Assert.Equal("anna", lines[0].GetProperty("user").GetString());
        Assert.Equal(256, lines[1].GetProperty("user").GetString()!.Length);
    }

    [Fact]
    public async Task Certificates_are_those_of_the_authority_for_clients_with_the_name_that_counts()
    {
        await using SecureServer server = await _site.StartAsync(static o => o.CertificateUsers = CertificateName.DnsName);

        Assert.True(server.Users is { HasPasswords: false, HasCertificates: true, AllowsAnonymous: false });
        ClaimsPrincipal anna = (await FindAsync(server, _site.Issue("x", dns: ["anna.plant"])))!;
        Assert.Equal(("anna.plant", "certificate"), (anna.Identity!.Name, anna.Identity.AuthenticationType));
        Assert.Null(await FindAsync(server, _site.Issue("anna.plant")));
        Assert.Null(await FindAsync(server, _site.Issue("x", dns: ["anna.plant"], client: false)));
        TestAuthority other = TestCertificates.CreateAuthority();
        Assert.Null(await FindAsync(server, other.Issue("x", ["anna.plant"], client: true)));

        // An authority that is added to the file counts from the next look on.
        await File.AppendAllTextAsync(
            _site.Files["ca.pem"], other.Certificate.ExportCertificatePem() + "\n", TestContext.Current.CancellationToken);
        server.Look();
        Assert.NotNull(await FindAsync(server, other.Issue("x", ["anna.plant"], client: true)));

        // The times are those of the server's clock. Certificates have whole seconds.
        TestCertificate brief = other.Issue("x", ["anna.plant"], client: true, notAfter: server.Time.GetUtcNow() + TimeSpan.FromSeconds(5));
        Assert.NotNull(await FindAsync(server, brief));
        server.Time.Advance(TimeSpan.FromSeconds(6));
        Assert.Null(await FindAsync(server, brief));
    }

    /// <summary>Peers of the authority that is missing then would be refused without a word.</summary>
    [Fact]
    public async Task Authorities_of_a_file_with_a_damaged_block_do_not_count_and_the_log_names_the_block()
    {
        await using SecureServer server = await _site.StartAsync(static o => o.CertificateUsers = CertificateName.CommonName);
        Assert.NotNull(await FindAsync(server, _site.Issue("anna")));
        TestAuthority other = TestCertificates.CreateAuthority();
        string first = (await File.ReadAllTextAsync(_site.Files["ca.pem"], TestContext.Current.CancellationToken)).TrimEnd();
        string second = other.Certificate.ExportCertificatePem().TrimEnd();

        // Without a line end between them.
        await RewriteAsync(first + second);
        Assert.NotNull(await FindAsync(server, _site.Issue("anna")));
        Assert.NotNull(await FindAsync(server, other.Issue("bert", client: true)));

        foreach ((string part, string damaged, string problem) in new[]
        {
            ("-----END CERTIFICATE-----", string.Empty, "has no line END CERTIFICATE"),
            ("CERTIFICATE-----\nM", "CERTIFICATE-----\n", "is not base64"),
            ("CERTIFICATE-----\nMIIB", "CERTIFICATE-----\nAAAA", "is damaged"),
        })
        {
            Assert.Contains(part, second, StringComparison.Ordinal);
            await RewriteAsync($"{first}\n{second.Replace(part, damaged, StringComparison.Ordinal)}\n");
            Assert.NotNull(await FindAsync(server, other.Issue("bert", client: true)));
            Assert.Contains(server.Log.WithId(9101), line => line.Text.Contains("block 2", StringComparison.Ordinal)
                && line.Text.Contains(problem, StringComparison.Ordinal));
        }

        async Task RewriteAsync(string text)
        {
            await File.WriteAllTextAsync(_site.Files["ca.pem"], text, TestContext.Current.CancellationToken);
            server.Look();
        }
    }

    [Fact]
    public async Task Anonymous_peers_are_let_in_where_nobody_must_show_who_it_is_or_that_is_allowed()
    {
        await using SecureServer open = await SecureServer.StartAsync(static _ => { });
        Assert.True(open.Users is { HasPasswords: false, HasCertificates: false, AllowsAnonymous: true });
        await using SecureServer both = await _site.StartAsync(
            static o => (o.CertificateUsers, o.AllowAnonymous) = (CertificateName.CommonName, true), ClientCertificateMode.Optional);
        Assert.True(both.Users.AllowsAnonymous);
        await using SecureServer unix = await SecureServer.StartAsync(static o => o.UnixUsers = true);
        Assert.False(unix.Users.AllowsAnonymous);
    }

    private static ValueTask<ClaimsPrincipal?> FindAsync(SecureServer server, string name, string password) =>
        server.Users.FindAsync(name, password, Peer, TestContext.Current.CancellationToken);

    private static ValueTask<ClaimsPrincipal?> FindAsync(SecureServer server, TestCertificate certificate) =>
        server.Users.FindAsync(certificate.Certificate, Peer, TestContext.Current.CancellationToken);

    private Task<SecureServer> StartAsync(Action<SecurityOptions>? configure = null) => SecureServer.StartAsync(o =>
    {
        o.UsersFile = _directory["users"];
        configure?.Invoke(o);
    });
}
