using FastPort.Connections;
using FastPort.Dashboard.Health;
using FastPort.Transports;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Xunit;

namespace FastPort.Dashboard.Tests.Health;

/// <summary>What cannot be brought about over HTTP: accepts that fail, a memory budget used up.</summary>
public sealed class ServerHealthCheckTests
{
    private static readonly HealthCheckContext Context = new()
    {
        Registration = new HealthCheckRegistration("server", new NoCheck(), HealthStatus.Unhealthy, tags: null),
    };

    [Fact]
    public async Task Accepts_that_fail_are_told_with_their_number()
    {
        var time = new FakeTimeProvider();
        var transport = new DeafTransport();
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "deaf://here" } },
            components: new FastPortServerComponents { Transports = { transport } });
        await server.StartAsync(TestContext.Current.CancellationToken);
        var check = new ServerHealthCheck(server, time);
        Assert.Equal(HealthStatus.Healthy, (await check.CheckHealthAsync(Context, TestContext.Current.CancellationToken)).Status);
        transport.Settings!.AcceptFailed!();
        transport.Settings.AcceptFailed();

        // Nothing to compare with yet.
        Assert.Equal(HealthStatus.Healthy, (await check.CheckHealthAsync(Context, TestContext.Current.CancellationToken)).Status);
        time.Advance(ServerHealthCheck.Window);
        HealthCheckResult result = await check.CheckHealthAsync(Context, TestContext.Current.CancellationToken);

        Assert.Equal(HealthStatus.Unhealthy, result.Status);
        Assert.Equal("2 accepts have failed in 10 s, and none has succeeded; see the log for the reason.", result.Description);
        time.Advance(ServerHealthCheck.Window);
        Assert.Equal(HealthStatus.Healthy, (await check.CheckHealthAsync(Context, TestContext.Current.CancellationToken)).Status);
    }

    [Theory]
    [InlineData(899, HealthStatus.Healthy)]
    [InlineData(900, HealthStatus.Degraded)]
    [InlineData(1000, HealthStatus.Unhealthy)]
    public void A_full_memory_budget_is_told(long used, HealthStatus expected)
    {
        var load = new ServerLoad(used, 1000, 0, 0, [], []);

        HealthStatus[] found = [.. ServerHealthCheck.Memory(load, HealthStatus.Unhealthy).Select(static one => one.Status)];

        Assert.Equal(expected, found.SingleOrDefault(HealthStatus.Healthy));
    }

    private sealed class NoCheck : IHealthCheck
    {
        public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();
    }

    /// <summary>A transport that accepts nothing.</summary>
    private sealed class DeafTransport : ITransport, ITransportListener
    {
        public ConnectionSettings? Settings { get; private set; }

        public Endpoint Endpoint { get; private set; } = Endpoint.Parse("deaf://here");

        public bool Supports(string scheme) => scheme == "deaf";

        public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings)
        {
            (Endpoint, Settings) = (endpoint, settings);
            return this;
        }

        public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) => throw new NotSupportedException();

        public void Start(Action<Connection> accepted)
        {
        }

        public ValueTask StopAsync() => ValueTask.CompletedTask;

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
