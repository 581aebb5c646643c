using FastPort;
using FastPort.Configuration;
using FastPort.Dashboard.Health;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds health checks of FastPort servers and clients of the host.</summary>
public static class HealthCheckRegistrations
{
    /// <summary>Name of the check of a server without a name, which the dashboard adds automatically.</summary>
    internal const string ServerCheck = "fastport-server";

    /// <summary>
    /// Adds a check of a server: unhealthy before it listens, from the beginning of its stop, while all accepts fail, and while its memory
    /// budget is used up; degraded when one of these is near, or a loop has been busy without a pause for 10 s.
    /// </summary>
    /// <param name="builder">The health checks.</param>
    /// <param name="serverName">The server's name, as passed to <c>AddFastPort</c>. Defaults to the server without a name.</param>
    /// <param name="name">The check's name. Defaults to <c>fastport-server</c>, followed by the server's name.</param>
    public static IHealthChecksBuilder AddFastPortServer(this IHealthChecksBuilder builder, string serverName = "", string? name = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(serverName);
        return builder.Add(Server(name ?? Named(ServerCheck, serverName), serverName));
    }

    /// <summary>Adds a check of a client: unhealthy while it is not connected.</summary>
    /// <param name="builder">The health checks.</param>
    /// <param name="clientName">The client's name, as passed to <c>AddFastPortClient</c>. Defaults to the client without a name.</param>
    /// <param name="name">The check's name. Defaults to <c>fastport-client</c>, followed by the client's name.</param>
    /// <param name="failureStatus">The status while it is not connected. Defaults to unhealthy.</param>
    public static IHealthChecksBuilder AddFastPortClient(
        this IHealthChecksBuilder builder, string clientName = "", string? name = null, HealthStatus? failureStatus = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(clientName);
        return builder.Add(new HealthCheckRegistration(
            name ?? Named("fastport-client", clientName),
            provider => new ClientHealthCheck(NamedServices.Get<FastPortClient>(provider, clientName)),
            failureStatus,
            tags: null));
    }

    /// <summary>The check of a server.</summary>
    internal static HealthCheckRegistration Server(string name, string serverName)
    {
        // Created once: it compares each reading with an earlier one.
        ServerHealthCheck? check = null;
        return new HealthCheckRegistration(
            name,
            provider => LazyInitializer.EnsureInitialized(ref check, () => new ServerHealthCheck(
                NamedServices.Get<FastPortServer>(provider, serverName),
                provider.GetService<TimeProvider>() ?? TimeProvider.System,
                provider.GetService<IHostApplicationLifetime>())),
            failureStatus: null,
            tags: null);
    }

    private static string Named(string check, string name) => name.Length == 0 ? check : $"{check}-{name}";
}
