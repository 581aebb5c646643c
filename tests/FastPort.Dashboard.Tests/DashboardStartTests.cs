using System.Net;
using FastPort.Hosting;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Dashboard;

/// <summary>The dashboard starts and stops with its host, and says why if it cannot.</summary>
public sealed class DashboardStartTests
{
    [Fact]
    public async Task ListensWhereItWasToldAndAnswers()
    {
        using IHost host = Build(("Dashboard:Url", "http://127.0.0.1:0"));
        await host.StartAsync(TestContext.Current.CancellationToken);
        Uri url = host.Services.GetRequiredService<DashboardServer>().Url!;
        using var client = new HttpClient { BaseAddress = url };

        using HttpResponseMessage answer = await client.GetAsync("/", TestContext.Current.CancellationToken);

        Assert.NotEqual(0, url.Port);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        await host.StopAsync(TestContext.Current.CancellationToken);
        Assert.Null(host.Services.GetRequiredService<DashboardServer>().Url);
        await Assert.ThrowsAsync<HttpRequestException>(() => client.GetAsync("/", TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task WithoutAUrlThereIsNoDashboard()
    {
        using IHost host = Build();
        await host.StartAsync(TestContext.Current.CancellationToken);

        Assert.Null(host.Services.GetRequiredService<DashboardServer>().Url);
    }

    [Fact]
    public async Task APortInUseIsTheFirstThingTold()
    {
        using IHost first = Build(("Dashboard:Url", "http://127.0.0.1:0"));
        await first.StartAsync(TestContext.Current.CancellationToken);
        string taken = first.Services.GetRequiredService<DashboardServer>().Url!.ToString();
        using IHost second = Build(("Dashboard:Url", taken));

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(
            () => second.StartAsync(TestContext.Current.CancellationToken));

        Assert.Equal(
            $"The dashboard cannot listen on {taken.TrimEnd('/')}: another program listens there; stop it, or choose another port with "
            + "--dashboard or Dashboard:Url.",
            e.Message);
        Assert.Empty(second.Services.GetRequiredService<FastPortServer>().Endpoints);
    }

    [Theory]
    [InlineData("Dashboard:Url is 'ftp://127.0.0.1:1'; give http:// or https://, an address and a port", "Url", "ftp://127.0.0.1:1")]
    [InlineData("Dashboard:Url is 'http://127.0.0.1/x'; give http:// or https://, an address and a port", "Url", "http://127.0.0.1/x")]
    [InlineData("Dashboard:Url: 'http://0.0.0.0:6680' can be reached from other machines, so the dashboard needs a token",
        "Url", "http://0.0.0.0:6680")]
    [InlineData("Dashboard:Token is 'short'; give 16 to 256 visible ASCII characters", "Token", "short")]
    [InlineData("Dashboard:AllowActions: actions change the server and need a token", "AllowActions", "true")]
    [InlineData("Dashboard:Uri is no known key; known are Url, Token", "Uri", "http://127.0.0.1:6680")]
    public async Task WrongOptionsAreRefused(string expected, string key, string value)
    {
        using IHost host = Build(($"Dashboard:{key}", value));

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(
            () => host.StartAsync(TestContext.Current.CancellationToken));

        Assert.StartsWith(expected, Assert.Single(e.Failures), StringComparison.Ordinal);
    }

    private static IHost Build(params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(
            [.. settings.Select(static one => KeyValuePair.Create(one.Key, (string?)one.Value))]);
        builder.Services.AddFastPort(builder.Configuration, static o => o.Endpoints = ["tcp://127.0.0.1:0"]);
        builder.Services.AddFastPortDashboard(builder.Configuration);
        return builder.Build();
    }
}
