using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.OpcBridge.Health;

/// <summary>Whether the OPC UA servers are connected: degraded while some are not, unhealthy while none is.</summary>
internal sealed class EndpointsHealthCheck(OpcUaTagSources sources) : IHealthCheck
{
    /// <summary>The check's name.</summary>
    public const string Name = "opc-ua-endpoints";

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        string[] away = [.. sources.All.Where(static source => !source.IsConnected).Select(static source => source.Name)];
        return Task.FromResult(away.Length == 0
            ? HealthCheckResult.Healthy()
            : new HealthCheckResult(
                away.Length == sources.All.Count ? context.Registration.FailureStatus : HealthStatus.Degraded,
                $"Not connected: {string.Join(", ", away)}. The bridge retries automatically."));
    }
}
