using System.Security.Cryptography.X509Certificates;
using Xunit;

namespace FastPort.Client.Tests.Certificates;

/// <summary>The command that makes certificates for development.</summary>
public sealed class CertificateCommandTests : IDisposable
{
    private readonly MadeCertificates _made = new();

    public void Dispose() => _made.Dispose();

    [Fact]
    public async Task Whoever_trusts_the_authority_trusts_the_server_under_its_names()
    {
        await _made.CreatedAsync();

        Assert.Equal(["ca.key", "ca.pem", "server.key", "server.pem"], _made.Files);
        using X509Certificate2 server = _made.Load("server");
        Assert.True(_made.IsTrusted(server, MadeCertificates.ServerUse));
        Assert.False(_made.IsTrusted(server, MadeCertificates.ClientUse));
        Assert.All(["localhost", "127.0.0.1", "::1"], name => Assert.True(server.MatchesHostname(name), name));
        Assert.False(server.MatchesHostname("example.org"));
        Assert.InRange(DateTime.Now - server.NotBefore, TimeSpan.FromMinutes(59), TimeSpan.FromMinutes(65));
        Assert.InRange(server.NotAfter - DateTime.Now, TimeSpan.FromDays(364), TimeSpan.FromDays(366));
        Assert.Equal(16, server.SerialNumberBytes.Length);
        Assert.InRange(server.SerialNumberBytes.Span[0], 0x01, 0x7F);
    }

    [Fact]
    public async Task The_authority_signs_certificates_but_no_further_authorities()
    {
        await _made.CreatedAsync();

        using X509Certificate2 authority = _made.Load("ca");
        X509BasicConstraintsExtension constraints = Assert.Single(authority.Extensions.OfType<X509BasicConstraintsExtension>());
        Assert.Equal(
            (true, true, true, 0),
            (constraints.Critical, constraints.CertificateAuthority, constraints.HasPathLengthConstraint,
                constraints.PathLengthConstraint));
        Assert.Equal(
            X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign,
            Assert.Single(authority.Extensions.OfType<X509KeyUsageExtension>()).KeyUsages);
        Assert.InRange(authority.NotAfter - DateTime.Now, TimeSpan.FromDays(3650), TimeSpan.FromDays(3654));
        using X509Certificate2 server = _made.Load("server");
        Assert.Equal(
            Assert.Single(authority.Extensions.OfType<X509SubjectKeyIdentifierExtension>()).SubjectKeyIdentifierBytes.ToArray(),
            Assert.Single(server.Extensions.OfType<X509AuthorityKeyIdentifierExtension>()).KeyIdentifier?.ToArray());
    }

    [Fact]
    public async Task Names_clients_and_days_are_as_given_and_what_to_type_next_is_said()
    {
        string output = await _made.CreatedAsync(
            "--name", "fast.example.org", "--name", "10.0.0.7", "--client", "anna", "--client", "line-1@plant", "--days", "7");

        using X509Certificate2 server = _made.Load("server");
        Assert.True(server.MatchesHostname("fast.example.org"));
        Assert.True(server.MatchesHostname("10.0.0.7"));
        Assert.False(server.MatchesHostname("localhost"));
        Assert.InRange(server.NotAfter - DateTime.Now, TimeSpan.FromDays(6), TimeSpan.FromDays(8));
        foreach (string name in (string[])["anna", "line-1@plant"])
        {
            using X509Certificate2 client = _made.Load($"client-{name}");
            Assert.Equal(name, client.GetNameInfo(X509NameType.SimpleName, forIssuer: false));
            Assert.True(_made.IsTrusted(client, MadeCertificates.ClientUse));
            Assert.False(_made.IsTrusted(client, MadeCertificates.ServerUse));
        }

        Assert.All(_made.Files, file => Assert.Contains($"wrote {_made.PathOf(file)}", output, StringComparison.Ordinal));
        Assert.Contains($"FastPort__Tls__CertificateFile={_made.PathOf("server.pem")} ", output, StringComparison.Ordinal);
        Assert.Contains(
            $"--server tls://fast.example.org:6628 --tls-ca {_made.PathOf("ca.pem")} --tls-cert {_made.PathOf("client-anna.pem")} ",
            output,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Private_keys_are_their_owner_s_only_and_never_printed()
    {
        string output = await _made.CreatedAsync("--client", "anna") + await _made.CreatedAsync("--client", "anna");

        string[] keys = [.. _made.Files.Where(static file => file.EndsWith(".key", StringComparison.Ordinal))];
        Assert.Equal(["ca.key", "client-anna.key", "server.key"], keys);
        Assert.DoesNotContain("PRIVATE", output, StringComparison.Ordinal);
        foreach (string key in keys)
        {
            Assert.DoesNotContain(_made.Read(key).Split('\n')[1], output, StringComparison.Ordinal);
        }

        if (!OperatingSystem.IsWindows())
        {
            const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;
            foreach (string key in keys)
            {
                Assert.Equal(OwnerOnly, File.GetUnixFileMode(_made.PathOf(key)));
            }

            Assert.Equal(OwnerOnly | UnixFileMode.UserExecute, File.GetUnixFileMode(_made.Path));
        }
    }

    [Fact]
    public async Task A_second_run_keeps_the_authority_and_renews_the_server()
    {
        await _made.CreatedAsync();
        string[] authority = [_made.Read("ca.pem"), _made.Read("ca.key")];
        using X509Certificate2 before = _made.Load("server");

        string output = await _made.CreatedAsync("--name", "localhost");

        Assert.Equal(authority, (string[])[_made.Read("ca.pem"), _made.Read("ca.key")]);
        Assert.Contains($"kept {_made.PathOf("ca.pem")}", output, StringComparison.Ordinal);
        Assert.DoesNotContain($"wrote {_made.PathOf("ca.")}", output, StringComparison.Ordinal);
        using X509Certificate2 after = _made.Load("server");
        Assert.NotEqual(before.SerialNumber, after.SerialNumber);
        Assert.NotEqual(before.GetPublicKeyString(), after.GetPublicKeyString());
        Assert.True(_made.IsTrusted(before, MadeCertificates.ServerUse));
        Assert.True(_made.IsTrusted(after, MadeCertificates.ServerUse));

        // No temporary file stays.
        Assert.Equal(["ca.key", "ca.pem", "server.key", "server.pem"], _made.Files);
    }

    [Theory]
    [InlineData("--name is '1'; give a DNS name", "--name", "1")]
    [InlineData("--name is '300.1.1.1'; give a DNS name", "--name", "300.1.1.1")]
    [InlineData("--name is 'a b'; give a DNS name", "--name", "localhost", "--name", "a b")]
    [InlineData("--name is '*.example.org'; give a DNS name", "--name", "*.example.org")]
    [InlineData("--name is 'fe80::1%1'; give a DNS name", "--name", "fe80::1%1")]
    [InlineData("--client is '../anna'; give 1 to 64", "--client", "../anna")]
    [InlineData("--client is ''; give 1 to 64", "--client", "")]
    [InlineData("--days is '0'; give a whole number from 1 to 825.", "--days", "0")]
    [InlineData("--days is '826'; give a whole number from 1 to 825.", "--days", "826")]
    public async Task Wrong_options_are_exit_code_2_and_nothing_is_written(string sentence, params string[] options)
    {
        (int exitCode, string output, string errors) = await _made.CreateAsync(options);

        Assert.Equal((2, string.Empty), (exitCode, output));
        Assert.StartsWith(sentence, errors, StringComparison.Ordinal);
        Assert.Empty(_made.Files);
    }

    [Fact]
    public async Task A_directory_that_is_a_file_is_exit_code_1()
    {
        await File.WriteAllTextAsync(_made.Path, "a file", TestContext.Current.CancellationToken);

        (int exitCode, string output, string errors) = await _made.CreateAsync();

        Assert.Equal((1, string.Empty), (exitCode, output));
        Assert.Contains(_made.Path, errors, StringComparison.Ordinal);
    }
}
