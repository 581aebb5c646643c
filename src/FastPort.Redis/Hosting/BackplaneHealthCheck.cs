using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.Redis.Hosting;

/// <summary>Whether a node has its lease, and Redis keeps what nodes write.</summary>
internal sealed class BackplaneHealthCheck(RedisBackplane backplane) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(!backplane.IsConnected
            ? new HealthCheckResult(
                context.Registration.FailureStatus,
                $"Node '{backplane.Node}' has no lease at Redis: relays to other nodes and Hellos with routing ids are answered "
                + "Unavailable.")
            : backplane.Running?.Eviction.Problem is { } problem
                ? HealthCheckResult.Degraded(problem)
                : HealthCheckResult.Healthy($"Node '{backplane.Node}' of {backplane.Nodes.Count}."));
}
