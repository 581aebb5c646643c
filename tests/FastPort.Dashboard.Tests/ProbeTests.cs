using System.Net;
using System.Net.Http.Headers;
using FastPort.Dashboard.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Xunit;
using static System.StringComparison;

namespace FastPort.Dashboard.Tests;

/// <summary>What monitors, load balancers and <c>wget --spider</c> ask: HEAD and OPTIONS.</summary>
public sealed class ProbeTests
{
    [Theory]
    [InlineData("/health/live")]
    [InlineData("/health/ready")]
    [InlineData("/metrics")]
    [InlineData("/")]
    [InlineData("/login")]
    [InlineData("/dashboard.css")]
    [InlineData("/sessions")]
    public async Task Head_is_answered_as_get_is_without_a_body(string path)
    {
        await using DashboardHost host = await DashboardHost.StartAsync();

        (HttpStatusCode status, string? type, string body) = await AskAsync(host, HttpMethod.Head, path);

        (HttpStatusCode getStatus, string? getType, string getBody) = await AskAsync(host, HttpMethod.Get, path);
        Assert.Equal((HttpStatusCode.OK, getStatus, getType, string.Empty), (status, getStatus, type, body));
        Assert.NotEmpty(getBody);
    }

    [Theory]
    [InlineData("/health/live", HttpStatusCode.OK)]
    [InlineData("/health/ready", HttpStatusCode.OK)]
    [InlineData("/metrics", HttpStatusCode.Unauthorized)]
    [InlineData("/", HttpStatusCode.Redirect)]
    public async Task Without_the_token_head_is_answered_as_get_is(string path, HttpStatusCode expected)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        Assert.Equal(expected, (await AskAsync(host, HttpMethod.Head, path)).Status);
        Assert.Equal(expected, (await AskAsync(host, HttpMethod.Get, path)).Status);
    }

    [Fact]
    public async Task With_the_token_head_of_metrics_is_good()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        Assert.Equal(HttpStatusCode.OK, (await AskAsync(host, HttpMethod.Head, "/metrics", DashboardHost.Token)).Status);
    }

    [Theory]
    [InlineData("/health/live", "GET, HEAD")]
    [InlineData("/metrics", "GET, HEAD")]
    [InlineData("/", "GET, HEAD")]
    [InlineData("/events", "GET")]
    public async Task Options_is_answered_with_what_is_allowed(string path, string allowed)
    {
        // A monitor asks by any name and has no token.
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        using var request = new HttpRequestMessage(HttpMethod.Options, path) { Headers = { Host = "status.example" } };

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.MethodNotAllowed, answer.StatusCode);
        Assert.Equal(allowed, string.Join(", ", answer.Content.Headers.Allow));
    }

    [Fact]
    public async Task A_scraper_by_an_unknown_name_is_refused_and_the_log_says_why()
    {
        using var log = new LogLines();
        await using DashboardHost host = await DashboardHost.StartAsync(
            services => services.AddSingleton<ILoggerProvider>(log), ("Dashboard:Token", DashboardHost.Token));
        for (int i = 0; i < 3; i++)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, "/metrics");
            request.Headers.Host = "metrics.plant.example:6680";
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", DashboardHost.Token);
            using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);
            Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        }

        string line = Assert.Single(log.Lines, static line => line.Contains("AllowedHosts", Ordinal));
        Assert.StartsWith("Warning Requests for 'metrics.plant.example' are refused, the last from 127.0.0.1. ", line, Ordinal);
    }

    private static async Task<(HttpStatusCode Status, string? Type, string Body)> AskAsync(
        DashboardHost host, HttpMethod method, string path, string? token = null)
    {
        using var request = new HttpRequestMessage(method, path);
        if (token is not null)
        {
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        }

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);
        return (
            answer.StatusCode,
            answer.Content.Headers.ContentType?.ToString(),
            await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
    }
}
