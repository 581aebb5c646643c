using System.Collections.Concurrent;
using System.Diagnostics;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using OwnMessages;
using Xunit;

namespace FastPort.Aspire.Tests;

/// <summary>Clients of a running server: calls, health, metrics and traces.</summary>
public sealed class ClientTelemetryTests : IAsyncLifetime
{
    private readonly FastPortServer _server = new(
        new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapService(new Mover()));

    public async ValueTask InitializeAsync() => await _server.StartAsync();

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_client_is_healthy_while_it_is_connected()
    {
        HostApplicationBuilder builder = Builder("game");
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);
        var health = host.Services.GetRequiredService<HealthCheckService>();
        await MoveAsync(host.Services.GetRequiredService<IFastPortClient>());

        HealthReport report = await health.CheckHealthAsync(Patience.Token);

        Assert.Equal(HealthStatus.Healthy, report.Entries["fastport-client"].Status);
        await _server.StopAsync();
        await Patience.UntilAsync(
            async () => (await health.CheckHealthAsync(Patience.Token)).Status == HealthStatus.Unhealthy, "the client misses its server");
        await host.StopAsync(Patience.Token);
    }

    [Fact]
    public async Task A_host_has_several_clients_by_key()
    {
        HostApplicationBuilder builder = Builder("a", "b");
        builder.AddKeyedFastPortClient("a");
        builder.AddKeyedFastPortClient("b", configureOptions: static options => options.RoutingId = "b");
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);
        var a = host.Services.GetRequiredKeyedService<IFastPortClient>("a");
        var b = host.Services.GetRequiredKeyedService<IFastPortClient>("b");

        await MoveAsync(a);
        await MoveAsync(b);

        Assert.NotSame(a, b);
        Assert.Null(host.Services.GetService<IFastPortClient>());
        HealthReport report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Patience.Token);
        Assert.Equal(["fastport-client-a", "fastport-client-b"], report.Entries.Keys.Order(StringComparer.Ordinal));
        await host.StopAsync(Patience.Token);
    }

    [Fact]
    public async Task A_check_of_the_program_s_own_with_the_same_name_stays()
    {
        HostApplicationBuilder builder = Builder("game");
        builder.AddFastPortClient("game");
        builder.Services.AddHealthChecks().AddCheck("fastport-client", static () => HealthCheckResult.Degraded());
        using IHost host = builder.Build();

        HealthReport report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Patience.Token);

        Assert.Equal(HealthStatus.Degraded, Assert.Single(report.Entries).Value.Status);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_client_is_measured_traced_and_checked_unless_this_is_turned_off(bool isOn)
    {
        HostApplicationBuilder builder = Builder("game");
        builder.AddFastPortClient(
            "game", settings => settings.DisableMetrics = settings.DisableTracing = settings.DisableHealthChecks = !isOn);
        var recorded = new Recorded();
        builder.Services.AddHealthChecks();
        builder.Services.AddOpenTelemetry()
            .WithMetrics(metrics => metrics.AddReader(new BaseExportingMetricReader(recorded.Metrics)))
            .WithTracing(traces => traces.AddProcessor(recorded.Activities));
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);

        await MoveAsync(host.Services.GetRequiredService<IFastPortClient>());

        host.Services.GetRequiredService<MeterProvider>().ForceFlush();
        Assert.Equal(isOn, recorded.Metrics.Names.Contains("fastport.client.messages.sent"));
        Assert.Equal(isOn, recorded.Activities.Ended.Any(static one => one.Kind == ActivityKind.Client && one.Source.Name == "FastPort"));
        HealthReport report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(Patience.Token);
        Assert.Equal(isOn, report.Entries.ContainsKey("fastport-client"));
        await host.StopAsync(Patience.Token);
    }

    private static async Task MoveAsync(IFastPortClient client)
    {
        Position position = await new PlayerClient(client).MoveAsync(new Step { Dx = 3, Dy = -4 });
        Assert.Equal((13, 6), (position.X, position.Y));
    }

    private HostApplicationBuilder Builder(params string[] names)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Services.AddMetrics();
        foreach (string name in names)
        {
            builder.Configuration[$"ConnectionStrings:{name}"] = $"Endpoint={_server.Endpoints[0]}";
        }

        return builder;
    }

    private sealed class Mover : PlayerBase
    {
        public override ValueTask<Position> MoveAsync(Step request, RequestContext context) =>
            ValueTask.FromResult(new Position { X = 10 + request.Dx, Y = 10 + request.Dy });
    }

    private sealed class Recorded
    {
        public MetricNames Metrics { get; } = new();

        public EndedActivities Activities { get; } = new();
    }

    private sealed class MetricNames : BaseExporter<Metric>
    {
        public ConcurrentBag<string> Names { get; } = [];

        public override ExportResult Export(in Batch<Metric> batch)
        {
            foreach (Metric metric in batch)
            {
                Names.Add(metric.Name);
            }

            return ExportResult.Success;
        }
    }

    private sealed class EndedActivities : BaseProcessor<Activity>
    {
        public ConcurrentBag<Activity> Ended { get; } = [];

        public override void OnEnd(Activity data) => Ended.Add(data);
    }
}
