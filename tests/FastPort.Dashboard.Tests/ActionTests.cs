using System.Net;
using System.Net.Http.Headers;
using FastPort.Dashboard.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>What readers with the token may change, where it is allowed, and the line that it leaves in the log.</summary>
public sealed class ActionTests
{
    [Theory]
    [InlineData("/actions/kick?session=1")]
    [InlineData("/actions/drain")]
    [InlineData("/actions/log-level?level=Debug")]
    public async Task WithoutTheOptionThereAreNone(string path)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        Assert.Equal(HttpStatusCode.NotFound, (await PostAsync(host, path)).Status);
        using EventStream events = await OpenAsync(host);
        Assert.False((await events.ReadAsync())!.Value.Data.GetProperty("actions").GetBoolean());
    }

    [Fact]
    public async Task ASessionIsClosedAndTheLogSaysByWhom()
    {
        using var log = new LogLines();
        await using DashboardHost host = await StartAsync(log);
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = host.Server.Endpoints[0].ToString(),
            Reconnect = false,
        });
        await client.ConnectAsync(TestContext.Current.CancellationToken);
        await DashboardHost.EchoAsync(client, 1);
        FastPort.Session session = Assert.Single(host.Server.Sessions);

        Assert.Equal((HttpStatusCode.OK, $"Session {session.Id} is closed."), await PostAsync(host, $"/actions/kick?session={session.Id}"));

        await session.Closed.InTimeAsync();
        Assert.Contains($"Warning Dashboard action by 127.0.0.1: close {session}", log.Lines);
        Assert.Equal(HttpStatusCode.NotFound, (await PostAsync(host, "/actions/kick?session=999999999")).Status);
        Assert.Equal(HttpStatusCode.BadRequest, (await PostAsync(host, "/actions/kick?session=me")).Status);
        Assert.Equal(HttpStatusCode.BadRequest, (await PostAsync(host, "/actions/kick")).Status);
    }

    [Fact]
    public async Task ADrainStopsTheHostAndThePageSeesIt()
    {
        using var log = new LogLines();
        await using DashboardHost host = await StartAsync(log);
        using EventStream events = await OpenAsync(host);
        await events.ReadFiguresAsync(static f => f.GetProperty("state").GetString() == "running");
        CancellationToken stopping = host.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;

        Assert.Equal(HttpStatusCode.Accepted, (await PostAsync(host, "/actions/drain")).Status);

        Assert.True(stopping.IsCancellationRequested);
        Assert.Contains("Warning Dashboard action by 127.0.0.1: drain and stop the server", log.Lines);
        await events.ReadFiguresAsync(static f => f.GetProperty("state").GetString() == "draining");

        // The program ends its host then. The last figures are of the stopped server, and the stream ends.
        Task stopped = host.StopAsync();
        await events.ReadFiguresAsync(static f => f.GetProperty("state").GetString() == "stopped");
        Assert.Null(await events.ReadAsync());
        await stopped.InTimeAsync();
    }

    [Fact]
    public async Task TheLogLevelIsChanged()
    {
        using var log = new LogLines();
        var level = new Level();
        await using DashboardHost host = await StartAsync(log, services => services.AddSingleton<IDashboardLogLevel>(level));

        Assert.Equal((HttpStatusCode.OK, "The log level is Debug."), await PostAsync(host, "/actions/log-level?level=Debug"));

        Assert.Equal(LogLevel.Debug, ((IDashboardLogLevel)level).Level);
        Assert.Contains("Warning Dashboard action by 127.0.0.1: log level Debug, before Information", log.Lines);
        foreach (string wrong in (string[])["loud", "None", "1", "debug", "", "Error", "Critical"])
        {
            Assert.Equal(HttpStatusCode.BadRequest, (await PostAsync(host, $"/actions/log-level?level={wrong}")).Status);
        }

        Assert.Equal(LogLevel.Debug, ((IDashboardLogLevel)level).Level);
    }

    [Fact]
    public async Task AProgramWithoutALevelSaysSo()
    {
        using var log = new LogLines();
        await using DashboardHost host = await StartAsync(log);

        Assert.Equal(
            (HttpStatusCode.NotFound, "This program's log level cannot be changed."),
            await PostAsync(host, "/actions/log-level?level=Debug"));
    }

    private static Task<DashboardHost> StartAsync(LogLines log, Action<IServiceCollection>? configure = null) =>
        DashboardHost.StartAsync(
            services =>
            {
                services.AddSingleton<ILoggerProvider>(log);
                configure?.Invoke(services);
            },
            ("Dashboard:Token", DashboardHost.Token),
            ("Dashboard:AllowActions", "true"));

    private static async Task<EventStream> OpenAsync(DashboardHost host)
    {
        host.Http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", DashboardHost.Token);
        return await EventStream.OpenAsync(host.Http);
    }

    private static async Task<(HttpStatusCode Status, string Text)> PostAsync(DashboardHost host, string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", DashboardHost.Token);
        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
    }

    private sealed class Level : IDashboardLogLevel
    {
        LogLevel IDashboardLogLevel.Level { get; set; } = LogLevel.Information;
    }
}
