using System.Net;
using FastPort.Dashboard.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The dashboard starts and stops with its host, and says why if it cannot.</summary>
public sealed class DashboardStartTests
{
    [Fact]
    public async Task ListensWhereItWasToldAndStopsWithTheHost()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        using (HttpResponseMessage answer = await host.Http.GetAsync("/", TestContext.Current.CancellationToken))
        {
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            Assert.Equal("text/html", answer.Content.Headers.ContentType?.MediaType);
        }

        Assert.NotEqual(0, host.Url.Port);
        await host.StopAsync();

        Assert.Null(host.Services.GetRequiredService<DashboardServer>().Url);
        await Assert.ThrowsAsync<HttpRequestException>(() => host.Http.GetAsync("/", TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task AWindowsThreadCanWaitForItsStartAndItsStop() => await WindowThread.RunAsync(static () =>
    {
        IHost host = DashboardHost.Build();
        host.StartAsync().GetAwaiter().GetResult();
        Assert.NotNull(host.Services.GetRequiredService<DashboardServer>().Url);
        host.StopAsync().GetAwaiter().GetResult();
        ((IAsyncDisposable)host).DisposeAsync().AsTask().GetAwaiter().GetResult();
    });

    [Fact]
    public async Task WithoutAUrlNothingOfItIsMade()
    {
        using IHost host = DashboardHost.Build(null, ("Dashboard:Url", string.Empty));
        await host.StartAsync(TestContext.Current.CancellationToken);

        Assert.Null(host.Services.GetRequiredService<DashboardServer>().Url);
        Assert.False(host.Services.GetRequiredService<IOptions<LatencyStatsOptions>>().Value.MeasureAlways);
        await host.StopAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task APortInUseIsToldBeforeTheServerListens()
    {
        await using DashboardHost first = await DashboardHost.StartAsync();
        string taken = first.Url.GetLeftPart(UriPartial.Authority);
        using IHost second = DashboardHost.Build(null, ("Dashboard:Url", taken));

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(
            () => second.StartAsync(TestContext.Current.CancellationToken));

        Assert.Equal(
            $"The dashboard cannot listen on {taken}: another program listens there; stop it, or choose another port with --dashboard or "
            + "Dashboard:Url.",
            e.Message);
        Assert.Empty(second.Services.GetRequiredService<FastPortServer>().Endpoints);
    }

    [Theory]
    [InlineData("Dashboard:Url is 'ftp://127.0.0.1:1'; give http:// or https://, an address and a port", "Url", "ftp://127.0.0.1:1")]
    [InlineData("Dashboard:Url is 'http://127.0.0.1/x'; give http:// or https://, an address and a port", "Url", "http://127.0.0.1/x")]
    [InlineData("Dashboard:Url is 'http://plant:6680'; give http:// or https://, an address and a port", "Url", "http://plant:6680")]
    [InlineData("Dashboard:Url: 'http://localhost:0' has a name and port 0", "Url", "http://localhost:0")]
    [InlineData("Dashboard:Url: 'http://0.0.0.0:6680' can be reached from other machines, so the dashboard needs a token",
        "Url", "http://0.0.0.0:6680")]
    [InlineData("Dashboard:Url: 'http://[::]:6680' can be reached from other machines, so the dashboard needs a token",
        "Url", "http://[::]:6680")]
    [InlineData("Dashboard:Token is not usable (6 characters); give 16 to 256 visible ASCII characters", "Token", "s3cret")]
    [InlineData("Dashboard:AllowActions: actions change the server and need a token", "AllowActions", "true")]
    [InlineData("Dashboard:Uri is not a known key; known keys: Url, Token", "Uri", "http://127.0.0.1:6680")]
    [InlineData("Dashboard:ServerName is 'other'; no server was added with that name.", "ServerName", "other")]
    public async Task WrongOptionsAreRefused(string expected, string key, string value)
    {
        using IHost host = DashboardHost.Build(null, ($"Dashboard:{key}", value));

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(
            () => host.StartAsync(TestContext.Current.CancellationToken));

        Assert.StartsWith(expected, Assert.Single(e.Failures), StringComparison.Ordinal);
        Assert.True(key != "Token" || !e.Message.Contains(value, StringComparison.Ordinal), e.Message);
    }

    [Fact]
    public void An_address_of_the_section_and_a_token_of_the_code_are_checked_together()
    {
        using IHost host = DashboardHost.Build(
            static services => services.PostConfigure<DashboardOptions>(static options => options.Token = DashboardHost.Token),
            ("Dashboard:Url", "http://0.0.0.0:6680"),
            ("Dashboard:AllowActions", "true"));

        DashboardOptions options = host.Services.GetRequiredService<IOptions<DashboardOptions>>().Value;

        Assert.Equal(("http://0.0.0.0:6680", true), (options.Url, options.AllowActions));
    }

    [Theory]
    [InlineData("http://203.0.113.1:6680", "no-certificate", "The dashboard cannot listen on http://203.0.113.1:6680: ")]
    [InlineData("https://127.0.0.1:0", "/nowhere/certificate.pfx", "The dashboard cannot listen on https://127.0.0.1:0: ")]
    [InlineData("https://127.0.0.1:0", "FastPort.Dashboard.Tests.dll", "The dashboard cannot listen on https://127.0.0.1:0: ")]
    public async Task AnAddressOrACertificateThatCannotBeUsedIsTold(string url, string certificate, string expected)
    {
        using IHost host = DashboardHost.Build(
            null,
            ("Dashboard:Url", url),
            ("Dashboard:Token", DashboardHost.Token),
            ("Dashboard:Certificate:Path", Path.Combine(AppContext.BaseDirectory, certificate)));

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => host.StartAsync(TestContext.Current.CancellationToken));

        Assert.StartsWith(expected, e.Message, StringComparison.Ordinal);
        Assert.NotEqual(expected.Trim(), e.Message.Trim());
    }

    [Fact]
    public async Task ShowsANamedServer()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(
            services => services.AddFastPort(
                "machines",
                new ConfigurationBuilder()
                    .AddInMemoryCollection(new Dictionary<string, string?>
                    {
                        ["M:Endpoints:0"] = "inproc://dashboard-machines",
                        ["M:ServerName"] = "Machines",
                    })
                    .Build().GetSection("M")),
            ("Dashboard:ServerName", "machines"));
        using EventStream events = await EventStream.OpenAsync(host.Http);

        (string name, System.Text.Json.JsonElement history) = (await events.ReadAsync())!.Value;

        Assert.Equal("history", name);
        Assert.Equal("Machines", history.GetProperty("server").GetString());
        Assert.Equal("inproc://dashboard-machines", history.GetProperty("endpoints")[0].GetString());
    }

    [Fact]
    public async Task MeasuresLatenciesThoughNothingIsReported()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 5);

        Assert.Equal(5, host.Services.GetRequiredService<LatencyStats>().ReadTotals().All.LifetimeCount);
    }
}
