using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Aspire.Hosting.Testing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OwnMessages;
using Projects;
using Xunit;
using LogLine = Aspire.Hosting.ApplicationModel.LogLine;

namespace FastPort.Aspire.Tests;

/// <summary>The sample, whole: its AppHost starts a server and a client as processes, without containers.</summary>
public sealed class AppHostTests
{
    [Fact]
    public async Task The_sample_runs_answers_clients_by_its_connection_string_and_leaves_no_process_behind()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The orchestrator's processes are looked up in /proc.");
        using var limit = new CancellationTokenSource(TimeSpan.FromMinutes(3));
        string orchestrator;
        await using (IDistributedApplicationTestingBuilder builder =
            await DistributedApplicationTestingBuilder.CreateAsync<AspireAppHost>(limit.Token))
        await using (DistributedApplication application = await builder.BuildAsync(limit.Token))
        {
            await application.StartAsync(limit.Token);
            orchestrator = Assert.Single(Orchestrator.Sessions());
            await application.ResourceNotifications.WaitForResourceHealthyAsync("game", limit.Token);

            Assert.Equal((13, 6), await MoveAsync(await application.GetConnectionStringAsync("game", limit.Token)));

            await LineAsync(application, "player", "at 13, 6", limit.Token);
            using HttpClient dashboard = application.CreateHttpClient("game", "dashboard");
            Assert.Equal("Healthy\nfastport-server: Healthy", await dashboard.GetStringAsync("/health/ready", limit.Token));
            Assert.NotEmpty(Orchestrator.Processes(orchestrator));
            await application.StopAsync(limit.Token);
        }

        await Patience.UntilAsync(() => Orchestrator.Processes(orchestrator).Count == 0, "the orchestrator's processes have ended");
    }

    private static async Task<(int X, int Y)> MoveAsync(string? connection)
    {
        Assert.StartsWith("Endpoint=tcp://localhost:", connection, StringComparison.Ordinal);
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration["ConnectionStrings:game"] = connection;
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);
        Position position = await new PlayerClient(host.Services.GetRequiredService<IFastPortClient>())
            .MoveAsync(new Step { Dx = 3, Dy = -4 });
        await host.StopAsync(Patience.Token);
        return (position.X, position.Y);
    }

    // Until the resource has printed the line.
    private static async Task LineAsync(DistributedApplication application, string resource, string line, CancellationToken limit)
    {
        var logs = application.Services.GetRequiredService<ResourceLoggerService>();
        IResource one = application.Services.GetRequiredService<DistributedApplicationModel>().Resources
            .Single(candidate => candidate.Name == resource);
        await foreach (IReadOnlyList<LogLine> batch in logs.WatchAsync(one).WithCancellation(limit))
        {
            if (batch.Any(read => read.Content.EndsWith(line, StringComparison.Ordinal)))
            {
                return;
            }
        }

        Assert.Fail($"'{resource}' has ended without '{line}'.");
    }
}
