using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Dashboard.Tests.Metrics;
using FastPort.Dashboard.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The certificate of an https:// dashboard, from its first use to its replacement.</summary>
[Collection(nameof(OneMeter))]
public sealed class DashboardCertificateTests
{
    private static readonly TimeSpan Look = TimeSpan.FromSeconds(5);

    [Theory]
    [InlineData("server.pem", null)]
    [InlineData("server.pfx", null)]
    [InlineData("server.pfx", "secret")]
    public async Task A_replaced_file_is_used_and_told_and_its_end_is_a_metric(string file, string? password)
    {
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, file);
        using X509Certificate2 first = Make("first", days: 30);
        using X509Certificate2 second = Make("second", days: 60);
        Write(first, path, password);
        var time = new FakeTimeProvider();
        using var log = new LogLines();
        await using DashboardHost host = await DashboardHost.StartAsync(
            services => services.AddSingleton<TimeProvider>(time).AddSingleton<ILoggerProvider>(log),
            ("Dashboard:Url", "https://127.0.0.1:0"),
            ("Dashboard:Certificate:Path", path),
            ("Dashboard:Certificate:Password", password ?? string.Empty));
        await ShowsAsync(host, first);

        Write(second, path, password);
        time.Advance(Look);

        await Patience.UntilAsync(
            () => log.Lines.Any(static line => line.StartsWith("Information ", StringComparison.Ordinal)
                && line.Contains("CN=second", StringComparison.Ordinal)),
            "the change was told");
        await ShowsAsync(host, second);

        // Not usable: what was read before stays.
        await File.WriteAllTextAsync(path, "no certificate", TestContext.Current.CancellationToken);
        time.Advance(Look);
        await Patience.UntilAsync(
            () => log.Lines.Any(line => line.StartsWith("Warning ", StringComparison.Ordinal)
                && line.Contains(path, StringComparison.Ordinal)),
            "that it is not usable was told");
        await ShowsAsync(host, second);

        async Task ShowsAsync(DashboardHost shown, X509Certificate2 expected)
        {
            X509Certificate? served = null;
            using var handler = new SocketsHttpHandler();
            handler.SslOptions.RemoteCertificateValidationCallback = (_, certificate, _, _) =>
            {
                served = certificate;
                return certificate is not null;
            };
            using var http = new HttpClient(handler) { BaseAddress = shown.Url };
            var metrics = new PrometheusText(await http.GetStringAsync("/metrics", TestContext.Current.CancellationToken));
            Assert.Equal(expected.GetCertHashString(), served?.GetCertHashString());
            Assert.Equal(
                new DateTimeOffset(expected.NotAfter).ToUnixTimeSeconds(),
                metrics.Find($"fastport_tls_certificate_expiry_seconds{{certificate=\"{path}\"}}"));
        }
    }

    [Fact]
    public async Task A_password_that_does_not_open_the_file_stops_the_start_with_its_key()
    {
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "server.pfx");
        using X509Certificate2 certificate = Make("server", days: 30);
        Write(certificate, path, "secret");

        Exception e = await Assert.ThrowsAnyAsync<Exception>(() => DashboardHost.StartAsync(
            null,
            ("Dashboard:Url", "https://127.0.0.1:0"),
            ("Dashboard:Certificate:Path", path),
            ("Dashboard:Certificate:Password", "another")));

        Assert.Contains("The password in Dashboard:Certificate:Password does not open", e.Message, StringComparison.Ordinal);
    }

    private static X509Certificate2 Make(string name, int days)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var wanted = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        return wanted.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(days));
    }

    private static void Write(X509Certificate2 certificate, string path, string? password)
    {
        if (Path.GetExtension(path) == ".pfx")
        {
            File.WriteAllBytes(path, certificate.Export(X509ContentType.Pfx, password));
            return;
        }

        File.WriteAllText(
            path, $"{certificate.ExportCertificatePem()}\n{certificate.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem()}\n");
    }
}
