using System.Net;
using FastPort.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Dashboard.Health;
using FastPort.Dashboard.Tests.Support;
using FastPort.Dispatch;
using FastPort.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Dashboard.Tests.Health;

/// <summary>What an orchestrator or a load balancer sees over HTTP.</summary>
public sealed class HealthTests
{
    private const ushort Held = 0x1000;

    [Theory]
    [InlineData("/health/live", "Healthy")]
    [InlineData("/health/ready", "Healthy\nfastport-server: Healthy")]
    public async Task A_server_that_listens_is_healthy_for_everybody(string path, string expected)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Host = "some.other.name";

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(expected, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
        Assert.True(answer.Headers.CacheControl?.NoStore);

        // It is the health alone that needs no token.
        using HttpResponseMessage metrics = await host.Http.GetAsync("/metrics", TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.Unauthorized, metrics.StatusCode);
    }

    [Fact]
    public async Task A_server_is_not_ready_before_it_listens()
    {
        var early = new EarlyService();
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton<IHostedService>(provider =>
        {
            early.Dashboard = provider.GetRequiredService<DashboardServer>();
            return early;
        }));

        Assert.Equal((HttpStatusCode.ServiceUnavailable, "Unhealthy\nfastport-server: Unhealthy"), early.Seen);
        Assert.Equal(HttpStatusCode.OK, (await GetAsync(host.Http, "/health/ready")).Status);
    }

    [Fact]
    public async Task Readiness_ends_with_the_beginning_of_a_drain_and_life_goes_on()
    {
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using DashboardHost host = await DashboardHost.StartAsync(services => services.AddSingleton(new Action<MessageHandlers>(
            handlers => handlers.MapQueued(Held, async context =>
            {
                begun.SetResult();
                await held.Task;
                context.Reply(default);
            }))));
        host.Server.Handlers.ToString();
        FastPortClient client = await host.ConnectAsync();
        Task request = client.RequestAsync(Held, ReadOnlyMemory<byte>.Empty);
        await begun.Task.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);
        Assert.Equal(HttpStatusCode.OK, (await GetAsync(host.Http, "/health/ready")).Status);

        // The answer in flight keeps the server from ending, and the dashboard with it.
        Task stopping = host.StopAsync();
        await Patience.UntilAsync(() => host.Server.IsStopping, "the server stops");

        Assert.Equal((HttpStatusCode.ServiceUnavailable, "Unhealthy\nfastport-server: Unhealthy"), await GetAsync(host.Http, "/health/ready"));
        Assert.Equal((HttpStatusCode.OK, "Healthy"), await GetAsync(host.Http, "/health/live"));
        Assert.False(stopping.IsCompleted);
        held.SetResult();
        await request;
        await stopping;
    }

    private static async Task<(HttpStatusCode Status, string Text)> GetAsync(HttpClient http, string path)
    {
        using HttpResponseMessage answer = await http.GetAsync(path, TestContext.Current.CancellationToken);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
    }

    /// <summary>Asks for the readiness before the server starts.</summary>
    private sealed class EarlyService : IHostedService
    {
        public DashboardServer? Dashboard { get; set; }

        public (HttpStatusCode Status, string Text) Seen { get; private set; }

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            using var http = new HttpClient { BaseAddress = Dashboard!.Url };
            Seen = await GetAsync(http, "/health/ready");
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
