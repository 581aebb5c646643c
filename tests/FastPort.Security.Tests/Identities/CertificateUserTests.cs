using System.Security.Claims;
using System.Text;
using FastPort.Security.Identities;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <summary>Peers of encrypted endpoints, whose certificates say who they are.</summary>
public sealed class CertificateUserTests : IDisposable
{
    private readonly CertificateSite _site = new();

    public void Dispose() => _site.Dispose();

    [Theory]
    [InlineData(CertificateName.CommonName, "anna")]
    [InlineData(CertificateName.DnsName, "anna.example")]
    public async Task The_policy_is_for_the_certificates_name(CertificateName kind, string user)
    {
        string policy = $$"""{ "rules": [ { "for": ["user:{{user}}"], "send": ["0x1000"] } ] }""";
        await File.WriteAllTextAsync(_site.Files["policy"], policy, TestContext.Current.CancellationToken);
        await using (SecureServer server = await _site.StartAsync(
            o => (o.CertificateUsers, o.PolicyFile, o.AuditFile) = (kind, _site.Files["policy"], _site.Files["audit"]),
            ClientCertificateMode.Required))
        {
            FastPortClient anna = await _site.ConnectAsync(server, "anna", ["anna.example", "bert.example"]);
            await anna.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
            await ForbiddenAsync(anna.RequestAsync(SecureServer.Other, new byte[1]));
            FastPortClient bert = await _site.ConnectAsync(server, "bert", ["bert.example", "anna.example"]);
            await ForbiddenAsync(bert.RequestAsync(SecureServer.Echo, new byte[1]));
        }

        string[] lines = await File.ReadAllLinesAsync(_site.Files["audit"], TestContext.Current.CancellationToken);
        Assert.Contains(lines, line => line.Contains("\"event\":\"session.identified\"", StringComparison.Ordinal)
            && line.Contains($"\"user\":\"{user}\"", StringComparison.Ordinal)
            && line.Contains("\"by\":\"certificate\"", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_certificate_is_an_identity_without_roles_also_when_a_client_comes_again()
    {
        await using SecureServer server = await _site.StartAsync(static o => o.CertificateUsers = CertificateName.CommonName);

        for (int i = 0; i < 3; i++)
        {
            FastPortClient client = await _site.ConnectAsync(server, "anna");
            ClaimsPrincipal user = Assert.Single(server.Server.Sessions).User!;
            Assert.Equal(("anna", "certificate"), (user.Identity!.Name, user.Identity.AuthenticationType));
            Assert.Equal(ClaimTypes.Name, Assert.Single(user.Claims).Type);
            await client.CloseAsync().InTimeAsync();
            await Patience.UntilAsync(() => server.Server.Sessions.Count == 0, "the session has ended");
        }
    }

    [Fact]
    public async Task A_token_wins_also_a_wrong_one()
    {
        string users = $"bert:{PasswordHash.Create("b")}:operator";
        await File.WriteAllTextAsync(_site.Files["users"], users, TestContext.Current.CancellationToken);
        await using SecureServer server = await _site.StartAsync(
            o => (o.CertificateUsers, o.UsersFile) = (CertificateName.CommonName, _site.Files["users"]));

        Assert.Contains("password is wrong", await RefusedAsync(server, "anna", Basic("anna:a")), StringComparison.Ordinal);
        Assert.Contains("does not accept JSON Web Tokens", await RefusedAsync(server, "anna", "x.y.z"), StringComparison.Ordinal);
        await _site.ConnectAsync(server, "anna", token: Basic("bert:b"));

        Session session = Assert.Single(server.Server.Sessions, static one => one.IsIdentified);
        Assert.Equal("bert", session.User!.Identity!.Name);
        Assert.True(session.User.IsInRole("operator"));
    }

    [Fact]
    public async Task A_certificate_without_the_name_is_refused_and_is_not_anonymous()
    {
        await using (SecureServer server = await _site.StartAsync(
            o => (o.CertificateUsers, o.AllowAnonymous, o.AuditFile) = (CertificateName.DnsName, true, _site.Files["audit"])))
        {
            Assert.Contains(
                "The client certificate has no DNS name in its subject alternative names",
                await RefusedAsync(server, "anna"),
                StringComparison.Ordinal);
        }

        Assert.Contains(
            await File.ReadAllLinesAsync(_site.Files["audit"], TestContext.Current.CancellationToken),
            static line => line.Contains("\"hello.refused\"", StringComparison.Ordinal)
                && line.Contains("no DNS name", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Without_certificate_and_token_a_peer_is_anonymous_where_that_is_allowed(bool allowed)
    {
        await using SecureServer server = await _site.StartAsync(
            o => (o.CertificateUsers, o.AllowAnonymous) = (CertificateName.CommonName, allowed));

        if (!allowed)
        {
            Assert.Contains("a token or a client certificate", await RefusedAsync(server, null), StringComparison.Ordinal);
            return;
        }

        await _site.ConnectAsync(server, null);
        Assert.Null(Assert.Single(server.Server.Sessions).User);
    }

    [Fact]
    public async Task Unless_it_is_set_a_certificate_names_nobody()
    {
        await using SecureServer server = await _site.StartAsync(static o => (o.UnixUsers, o.AllowAnonymous) = (true, true));

        await _site.ConnectAsync(server, "anna");

        Session session = Assert.Single(server.Server.Sessions);
        Assert.NotNull(session.Tls!.PeerCertificate);
        Assert.Null(session.User);
    }

    private static string Basic(string text) => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    private static async Task ForbiddenAsync(Task task)
    {
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => task.InTimeAsync());
        Assert.Equal(ErrorCode.Forbidden, e.Code);
    }

    private async Task<string> RefusedAsync(SecureServer server, string? name, string token = "")
    {
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(
            () => _site.ConnectAsync(server, name, token: token));
        Assert.Equal(ErrorCode.Unauthenticated, e.Code);
        return e.Message;
    }
}
