using FastPort.Dashboard.Live;
using FastPort.Dashboard.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.Dashboard.Health;

/// <summary>
/// <c>/health/live</c> and <c>/health/ready</c> for systems that start, restart and balance servers. They need no token, so they return
/// states without reasons; the reasons are in the log, where the health check service writes them.
/// </summary>
internal sealed class HealthEndpoints(HealthCheckService health, HostState state, TimeProvider time) : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes)
    {
        // A process that answers is alive. A failed check means that it should get no work, not that a restart would help.
        Map(routes, "/health/live", static one => one.Tags.Contains("live"));
        Map(routes, "/health/ready", static one => !one.Tags.Contains("live"));
    }

    private void Map(IEndpointRouteBuilder routes, string path, Func<HealthCheckRegistration, bool> which)
    {
        var shared = new SharedHealth(health, which, state, time);
        routes.MapRead(path, context => AnswerAsync(context, shared)).WithMetadata(OpenRoute.Instance);
    }

    private static async Task AnswerAsync(HttpContext context, SharedHealth shared)
    {
        HealthReport report = await shared.ReadAsync(context.RequestAborted).ConfigureAwait(false);
        context.Response.StatusCode = report.Status == HealthStatus.Unhealthy
            ? StatusCodes.Status503ServiceUnavailable
            : StatusCodes.Status200OK;
        context.Response.ContentType = "text/plain; charset=utf-8";
        context.Response.Headers.CacheControl = "no-store";
        IEnumerable<string> lines = report.Entries.Select(static entry => $"{entry.Key}: {entry.Value.Status}");
        await context.Response.WriteAsync(string.Join('\n', lines.Prepend(report.Status.ToString())), context.RequestAborted)
            .ConfigureAwait(false);
    }
}
