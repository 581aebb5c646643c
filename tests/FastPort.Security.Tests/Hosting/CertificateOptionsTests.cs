using System.Text.Json;
using FastPort.Security.Identities;
using FastPort.Security.Tests.Support;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Security.Tests.Hosting;

/// <summary>What a server with certificates needs to be set, and what it writes down of them.</summary>
public sealed class CertificateOptionsTests : IDisposable
{
    private readonly CertificateSite _site = new();

    public void Dispose() => _site.Dispose();

    [Fact]
    public async Task A_server_that_asks_for_no_certificates_does_not_start()
    {
        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(
            () => _site.StartAsync(
                static o => (o.CertificateUsers, o.BanTime) = (CertificateName.CommonName, TimeSpan.Zero), ClientCertificateMode.None));

        Assert.Equal(
            [
                "Security:BanTime is 00:00:00",
                "Security:CertificateUsers is CommonName, but the server's Tls:ClientCertificates is None",
            ],
            e.Failures.Select(static problem => problem.Split(';')[0]).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_server_that_would_take_users_of_any_authority_does_not_start()
    {
        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => _site.StartAsync(
            static o => o.CertificateUsers = CertificateName.Email,
            ClientCertificateMode.Required,
            static server => server.Tls.ClientAuthorityFile = string.Empty));

        Assert.StartsWith(
            "Security:CertificateUsers is Email, but the server's Tls:ClientAuthorityFile is empty",
            Assert.Single(e.Failures),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("dnsname", null)]
    [InlineData("Serial", "Security:CertificateUsers is 'Serial'; allowed: None, CommonName, DnsName, Email, Uri, Subject.")]
    [InlineData("1", "Security:CertificateUsers is '1'; allowed: None, CommonName, DnsName, Email, Uri, Subject.")]
    public void The_kind_of_name_is_one_of_the_list(string text, string? problem)
    {
        IConfiguration configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(
            [
                new("Security:CertificateUsers", text),
                new("FastPort:Tls:ClientCertificates", "Required"),
                new("FastPort:Tls:ClientAuthorityFile", "ca.pem"),
            ])
            .Build();
        IServiceCollection services = new ServiceCollection();
        services.AddFastPort(configuration).AddSecurity(configuration);
        using ServiceProvider provider = services.BuildServiceProvider();
        IOptions<SecurityOptions> options = provider.GetRequiredService<IOptions<SecurityOptions>>();

        if (problem is null)
        {
            Assert.Equal(CertificateName.DnsName, options.Value.CertificateUsers);
        }
        else
        {
            OptionsValidationException e = Assert.Throws<OptionsValidationException>(() => options.Value);
            Assert.Equal(problem, Assert.Single(e.Failures));
        }
    }

    [Fact]
    public async Task An_endpoint_where_everybody_may_connect_is_not_secure_whatever_users_there_are()
    {
        void Configure(SecurityOptions options)
        {
            File.WriteAllText(_site.Files["users"], $"anna:{PasswordHash.Create("a")}");
            (options.UsersFile, options.AllowAnonymous) = (_site.Files["users"], true);
        }

        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(() => _site.StartAsync(
            Configure, server: static o => (o.Endpoints, o.RequireSecureDefaults) = (["tls://0.0.0.0:0"], true)));
        Assert.Equal(
            "tls://0.0.0.0:0 can be reached from other machines: anyone who reaches it may connect. FastPort:RequireSecureDefaults "
            + "forbids it.",
            Assert.Single(e.Problems));

        await using SecureServer server = await _site.StartAsync(Configure, server: static o => o.Endpoints = ["tls://0.0.0.0:0"]);
        Assert.Single(server.Log.WithId(3009));
    }

    [Fact]
    public async Task A_certificate_of_the_server_that_has_changed_is_audited()
    {
        string audit = _site.Files["audit"];
        TestCertificate renewed;
        await using (SecureServer server = await _site.StartAsync(o => o.AuditFile = audit))
        {
            renewed = _site.WriteServer("renewed");
            server.Look();
            await Patience.UntilAsync(() => server.Server.Certificates[0].Subject == "CN=renewed", "the certificate was read");
            await Patience.UntilAsync(() => new FileInfo(audit).Length != 0, "it was written down");
        }

        string line = Assert.Single(await File.ReadAllLinesAsync(audit, TestContext.Current.CancellationToken));
        using var document = JsonDocument.Parse(line);
        Assert.Equal(
            ["certificate.changed", "server.pem", "CN=renewed", renewed.Thumbprint, "2049-01-01T00:00:00Z"],
            document.RootElement.EnumerateObject().Skip(1).Select(static value => Path.GetFileName(value.Value.GetString())));
    }
}
