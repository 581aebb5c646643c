using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.Aspire.Client;

/// <summary>Whether a client is connected.</summary>
internal sealed class ClientHealthCheck(FastPortClient client) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(client.Session is { IsClosed: false } session
            ? HealthCheckResult.Healthy($"Connected to {session.RemoteEndPoint}.")
            : new HealthCheckResult(context.Registration.FailureStatus, "The client is not connected; it retries automatically."));
}
