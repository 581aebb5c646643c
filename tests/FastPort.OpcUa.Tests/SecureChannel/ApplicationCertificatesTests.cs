using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>The certificate of the application itself: made once, and for which application it is.</summary>
public sealed class ApplicationCertificatesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private readonly RecordingLog _log = new();

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void An_application_that_has_chosen_no_uri_has_that_of_its_certificate()
    {
        using ApplicationCertificates first = Load("urn:first", isDefaultUri: true);
        using ApplicationCertificates second = Load("urn:second", isDefaultUri: true);

        Assert.Equal(("urn:first", "urn:first"), (first.ApplicationUri, second.ApplicationUri));
        Assert.Equal(first.Own.Der, second.Own.Der);
        Assert.Empty(_log.Lines);
    }

    [Fact]
    public void A_chosen_uri_that_is_not_in_the_certificate_stays_and_the_log_names_both()
    {
        using ApplicationCertificates first = Load("urn:first", isDefaultUri: true);
        using ApplicationCertificates second = Load("urn:second", isDefaultUri: false);

        Assert.Equal("urn:second", second.ApplicationUri);
        LogLine line = Assert.Single(_log.Lines);
        Assert.Equal(7202, line.Id);
        Assert.Contains("is for urn:first, not for urn:second: ", line.Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("http://HOST")]
    [InlineData("http://PLC01/App one")]
    [InlineData("urn:Host:FastPort:%C3%BC")]
    public void A_uri_stands_in_a_new_certificate_as_it_was_given(string uri)
    {
        using ApplicationCertificates certificates = Load(uri, isDefaultUri: false, "localhost", "10.0.0.7");
        using X509Certificate2 own = CertificateStore.TryReadLeaf(certificates.Own.Der)!;

        Assert.Equal((uri, uri), (certificates.ApplicationUri, certificates.Own.ApplicationUri));
        Assert.True(own.MatchesHostname("localhost") && own.MatchesHostname("10.0.0.7"));
        Assert.Empty(_log.Lines);
    }

    /// <summary>Else the last file would win, and the others have a certificate that nobody trusts after the next start.</summary>
    [Fact]
    public void All_who_start_at_once_get_one_certificate()
    {
        const int Threads = 4;
        using var together = new Barrier(Threads);
        int made = 0;
        string own = Path.Combine(_folder, "own");
        ApplicationCertificate[] all = new ApplicationCertificate[Threads];
        Thread[] threads = [.. Enumerable.Range(0, Threads).Select(i => new Thread(() =>
        {
            together.SignalAndWait();
            all[i] = ApplicationCertificate.LoadOrCreate(Path.Combine(own, "certificate.pem"), Path.Combine(own, "key.pem"), () =>
            {
                Interlocked.Increment(ref made);
                return ApplicationCertificate.Create("urn:test", "test", [], TimeProvider.System.GetUtcNow());
            });
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());

        Assert.Equal(1, made);
        Assert.All(all, one => Assert.Equal(all[0].Der, one.Der));
        Array.ForEach(all, static one => one.Dispose());
    }

    /// <summary>Otherwise the next start would find an empty certificate.</summary>
    [Fact]
    public void A_disk_that_fills_up_leaves_no_certificate()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "The system has no device that is always full.");
        string own = Directory.CreateDirectory(Path.Combine(_folder, "own")).FullName;
        string certificate = Path.Combine(own, "certificate.pem"), temporary = certificate + ".tmp";
        File.CreateSymbolicLink(temporary, "/dev/full");

        Assert.Throws<IOException>(() => Load("urn:first", isDefaultUri: true));
        Assert.False(File.Exists(certificate));

        File.Delete(temporary);
        Load("urn:first", isDefaultUri: true).Dispose();
        Assert.True(File.Exists(certificate));
    }

    /// <summary>An interrupted copy or an editing mistake damages a file. The message names the file and the ways out.</summary>
    [Theory]
    [InlineData("certificate.pem", "")]
    [InlineData("certificate.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")]
    [InlineData("key.pem", "")]
    [InlineData("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")]
    [InlineData("key.pem", null)]
    public async Task Damaged_files_of_its_own_certificate_are_named_with_what_to_do(string file, string? content)
    {
        Load("urn:first", isDefaultUri: true).Dispose();
        string own = Path.Combine(_folder, "own"), damaged = Path.Combine(own, file);
        File.Delete(damaged);
        if (content is not null)
        {
            await File.WriteAllTextAsync(damaged, content);
        }

        var options = new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" } };
        options.Certificates.Directory = _folder;
        await using var server = new OpcUaServer(options);

        IOException e = await Assert.ThrowsAnyAsync<IOException>(() => server.StartAsync());
        Assert.Contains(damaged, e.Message, StringComparison.Ordinal);
        Assert.EndsWith(
            $" Or delete {Path.Combine(own, "certificate.pem")} and {Path.Combine(own, "key.pem")}: new ones are created, which peers must "
            + "then trust.",
            e.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_directory_that_cannot_be_used_is_named_with_its_option()
    {
        string file = Path.Combine(_folder, "file");
        await File.WriteAllBytesAsync(file, []);
        var options = new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" } };
        options.Certificates.Directory = file;
        await using var server = new OpcUaServer(options);

        IOException e = await Assert.ThrowsAnyAsync<IOException>(() => server.StartAsync());

        Assert.StartsWith($"The folders of Certificates:Directory, {file}, cannot be used: ", e.Message, StringComparison.Ordinal);
    }

    private ApplicationCertificates Load(string uri, bool isDefaultUri, params string[] hosts)
    {
        var store = new CertificateStore(new OpcUaCertificateOptions { Directory = _folder }, TimeProvider.System, _log);
        return new ApplicationCertificates(store, uri, isDefaultUri, "test", hosts, TimeProvider.System, _log);
    }
}
