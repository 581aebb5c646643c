using System.Net;
using System.Net.Sockets;
using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Aspire.Tests;

/// <summary>When the AppHost calls a server healthy.</summary>
public sealed class ServerHealthTests
{
    private readonly RecordingLog _log = new();

    [Fact]
    public async Task A_server_that_answers_is_healthy()
    {
        await using FastPortServer server = await StartAsync("tcp://127.0.0.1:0");

        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(server.Endpoints[0].Port)).Status);

        await NoWarningAsync(server);
    }

    [Fact]
    public async Task A_server_that_lets_nobody_in_is_healthy()
    {
        var nobody = new FastPortServerComponents
        {
            Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Refuse("no")),
        };
        await using FastPortServer server = await StartAsync("tcp://127.0.0.1:0", nobody);

        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(server.Endpoints[0].Port)).Status);
    }

    [Fact]
    public async Task A_server_with_TLS_is_healthy_whoever_has_signed_its_certificate()
    {
        using var folder = new TemporaryDirectory();
        new TestAuthority("nobody's", issuer: null).Issue("localhost", dns: ["localhost"]).WritePem(folder["server.pem"], withKey: true);
        await using FastPortServer server = await StartAsync(
            "tls://127.0.0.1:0", configure: options => options.Tls.CertificateFile = folder["server.pem"]);

        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(server.Endpoints[0].Port, tls: true)).Status);

        await NoWarningAsync(server);
        Assert.Equal(HealthStatus.Unhealthy, (await CheckAsync(server.Endpoints[0].Port)).Status);
    }

    [Fact]
    public async Task A_server_that_requires_certificates_of_its_clients_is_healthy()
    {
        using var folder = new TemporaryDirectory();
        var authority = new TestAuthority("ours", issuer: null);
        File.WriteAllText(folder["ca.pem"], authority.Certificate.ExportCertificatePem());
        authority.Issue("localhost", dns: ["localhost"]).WritePem(folder["server.pem"], withKey: true);
        await using FastPortServer server = await StartAsync("tls://127.0.0.1:0", configure: options =>
        {
            options.Tls.CertificateFile = folder["server.pem"];
            options.Tls.ClientCertificates = ClientCertificateMode.Required;
            options.Tls.ClientAuthorityFile = folder["ca.pem"];
        });

        Assert.Equal(HealthStatus.Healthy, (await CheckAsync(server.Endpoints[0].Port, tls: true)).Status);
    }

    [Fact]
    public async Task A_listener_that_accepts_and_leaves_is_unhealthy()
    {
        // As the orchestrator's proxy does while the server does not listen yet.
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task leaving = Task.Run(async () => (await listener.AcceptTcpClientAsync(Patience.Token)).Close());

        HealthReportEntry health = await CheckAsync(((IPEndPoint)listener.LocalEndpoint).Port);

        await leaving.InTimeAsync();
        Assert.Equal(HealthStatus.Unhealthy, health.Status);
        Assert.StartsWith("No answer at tcp://localhost:", health.Description, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Another_program_is_unhealthy()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task answering = Task.Run(async () =>
        {
            using TcpClient peer = await listener.AcceptTcpClientAsync(Patience.Token);
            await peer.GetStream().ReadExactlyAsync(new byte[12], Patience.Token);
            await peer.GetStream().WriteAsync("500 what?\r\n500 what?\r\n"u8.ToArray(), Patience.Token);
        });

        HealthReportEntry health = await CheckAsync(((IPEndPoint)listener.LocalEndpoint).Port);

        await answering.InTimeAsync();
        Assert.Equal(HealthStatus.Unhealthy, health.Status);
        Assert.EndsWith("is not a FastPort server.", health.Description, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_without_a_port_is_unhealthy() =>
        Assert.Equal("The endpoint has no port yet.", (await CheckAsync(port: null)).Description);

    private static async Task<HealthReportEntry> CheckAsync(int? port, bool tls = false)
    {
        IDistributedApplicationBuilder builder = Models.Run();
        IResourceBuilder<FastPortServerResource> game = builder.AddFastPortServer("game", Models.Project);
        if (tls)
        {
            game.WithTls();
        }

        if (port is { } given)
        {
            Models.Allocate(game.Resource.PrimaryEndpoint, given, given);
        }

        await using DistributedApplication application = builder.Build();
        string check = Assert.Single(game.Resource.Annotations.OfType<HealthCheckAnnotation>()).Key;
        HealthReport report = await application.Services.GetRequiredService<HealthCheckService>()
            .CheckHealthAsync(one => one.Name == check, Patience.Token);
        return Assert.Single(report.Entries).Value;
    }

    // Once the check's session has ended.
    private async Task NoWarningAsync(FastPortServer server)
    {
        await Patience.UntilAsync(
            () => _log.Lines.Any(static line => line.Id is 2001 or 2002), "the server has logged the end of the check's session");
        Assert.Equal(0, server.Counters.Snapshot().ErrorsSent);
        Assert.DoesNotContain(_log.Lines, static line => line.Level >= LogLevel.Warning);
    }

    private async Task<FastPortServer> StartAsync(
        string endpoint, FastPortServerComponents? components = null, Action<FastPortServerOptions>? configure = null)
    {
        var options = new FastPortServerOptions { Endpoints = { endpoint } };
        configure?.Invoke(options);
        var server = new FastPortServer(options, new MessageHandlers(), components ?? new FastPortServerComponents(), _log);
        await server.StartAsync();
        return server;
    }
}
