using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Xunit;

namespace FastPort.Client.Tests.Certificates;

/// <summary><c>certs create</c> where an authority lies already.</summary>
public sealed class CertificateAuthorityTests : IDisposable
{
    private static readonly DateTimeOffset Now = DateTimeOffset.UtcNow;

    private readonly MadeCertificates _made = new();

    public void Dispose() => _made.Dispose();

    [Fact]
    public async Task An_authority_of_the_user_s_own_signs_and_what_it_signs_does_not_outlive_it()
    {
        _made.WriteAuthority(Now.AddDays(-1), Now.AddDays(30));

        await _made.CreatedAsync();

        using X509Certificate2 server = _made.Load("server");
        using X509Certificate2 authority = _made.Load("ca");
        Assert.Equal("CN=own", server.Issuer);
        Assert.Equal(authority.NotAfter, server.NotAfter);
        Assert.True(_made.IsTrusted(server, MadeCertificates.ServerUse));
    }

    [Fact]
    public async Task A_foreign_key_is_refused()
    {
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        _made.WriteAuthority(Now.AddDays(-1), Now.AddDays(30), otherKey: other);

        await RefusesAsync("ca.key is not the key of ca.pem");
    }

    [Fact]
    public async Task An_authority_that_has_expired_is_refused()
    {
        _made.WriteAuthority(Now.AddDays(-30), Now.AddDays(-1));

        await RefusesAsync("ca.pem has expired on ");
    }

    [Fact]
    public async Task An_authority_that_is_not_valid_yet_is_refused()
    {
        _made.WriteAuthority(Now.AddDays(2), Now.AddDays(30));

        await RefusesAsync("ca.pem is not valid before ");
    }

    [Fact]
    public async Task A_certificate_that_may_not_sign_is_refused()
    {
        _made.WriteAuthority(Now.AddDays(-1), Now.AddDays(30), isAuthority: false);

        await RefusesAsync("ca.pem is not an authority's certificate");
    }

    [Theory]
    [InlineData("ca.pem", "nonsense", "ca.pem has no certificate in PEM form")]
    [InlineData("ca.key", "nonsense", "ca.key has no ECDSA key in PEM form without a password")]
    [InlineData("ca.pem", null, "it has ca.key, but no ca.pem")]
    [InlineData("ca.key", null, "it has ca.pem, but no ca.key")]
    public async Task Files_that_are_broken_or_missing_are_refused(string file, string? text, string problem)
    {
        _made.WriteAuthority(Now.AddDays(-1), Now.AddDays(30));
        if (text is null)
        {
            File.Delete(_made.PathOf(file));
        }
        else
        {
            await File.WriteAllTextAsync(_made.PathOf(file), text, TestContext.Current.CancellationToken);
        }

        await RefusesAsync(problem);
    }

    [Fact]
    public async Task A_key_of_another_kind_is_refused()
    {
        _made.WriteAuthority(Now.AddDays(-1), Now.AddDays(30));
        using var rsa = RSA.Create(2048);
        await File.WriteAllTextAsync(_made.PathOf("ca.key"), rsa.ExportPkcs8PrivateKeyPem(), TestContext.Current.CancellationToken);

        await RefusesAsync("ca.key has no ECDSA key");
    }

    // One sentence, and the files stay as they are.
    private async Task RefusesAsync(string problem)
    {
        string[] before = _made.Files;

        (int exitCode, string output, string errors) = await _made.CreateAsync();

        Assert.Equal((2, string.Empty), (exitCode, output));
        Assert.StartsWith($"The authority in {_made.Path} cannot be used: {problem}", errors, StringComparison.Ordinal);
        Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Equal(before, _made.Files);
    }
}
