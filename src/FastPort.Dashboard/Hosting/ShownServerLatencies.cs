using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.Dashboard.Hosting;

/// <summary>The server that a dashboard shows measures latencies even if they are not reported.</summary>
internal sealed class ShownServerLatencies(IServiceProvider services) : IPostConfigureOptions<LatencyStatsOptions>
{
    public void PostConfigure(string? name, LatencyStatsOptions options)
    {
        DashboardOptions dashboard;
        try
        {
            dashboard = services.GetRequiredService<IOptions<DashboardOptions>>().Value;
        }
        catch (OptionsValidationException)
        {
            // The host does not start, and names these problems as well as those of the latencies' options.
            return;
        }

        options.MeasureAlways |= dashboard.IsEnabled && name == dashboard.ServerName;
    }
}
