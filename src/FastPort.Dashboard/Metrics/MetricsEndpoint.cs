using System.Diagnostics.Metrics;
using FastPort.Configuration;
using FastPort.Telemetry;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Options;
using Microsoft.Net.Http.Headers;
using OpenTelemetry;
using OpenTelemetry.Metrics;

namespace FastPort.Dashboard.Metrics;

/// <summary>
/// <c>/metrics</c> for Prometheus: the meters of FastPort and of the runtime, written by OpenTelemetry's exporter, followed by the
/// latencies as histograms, which that exporter could only have if every message were recorded a second time.
/// </summary>
internal sealed class MetricsEndpoint(IServiceProvider services, IOptions<DashboardOptions> options) : IDashboardEndpoints, IDisposable
{
    // The one format of the exporter whose end is not marked, so that more can follow.
    private const string TextFormat = "text/plain; version=0.0.4";

    private const string Runtime = "System.Runtime";

    private MeterProvider? _provider;

    public void Map(IEndpointRouteBuilder routes)
    {
        // Created when the dashboard starts: without one, OpenTelemetry is not loaded.
        string server = options.Value.ServerName;
        _provider = Sdk.CreateMeterProviderBuilder()
            .AddMeter("FastPort", Runtime)
            .AddView(instrument => IsLeftOut(instrument, server) ? MetricStreamConfiguration.Drop : null)
            .AddPrometheusExporter(static exporter =>
            {
                // Two collectors see the current state; the labels that Prometheus adds name the target.
                exporter.ScrapeResponseCacheDurationMilliseconds = 0;
                exporter.TargetInfoEnabled = false;
            })
            .Build();
        RequestDelegate exporter = routes.CreateApplicationBuilder()
            .UseOpenTelemetryPrometheusScrapingEndpoint(
                _provider, static _ => true, path: null, configureBranchedPipeline: null, optionsName: null)
            .Build();
        routes.MapRead("/metrics", context => ServeAsync(context, exporter));
    }

    public void Dispose() => _provider?.Dispose();

    // Histograms follow for the latencies. The runtime has three gauges whose names end as those of Prometheus histograms do.
    private static bool IsLeftOut(Instrument instrument, string server) => DurationHistograms.Replace(instrument, server)
        || (instrument.Meter.Name == Runtime && instrument.Name.EndsWith(".count", StringComparison.Ordinal));

    private async Task ServeAsync(HttpContext context, RequestDelegate exporter)
    {
        context.Request.Headers[HeaderNames.Accept] = TextFormat;

        // The exporter compresses and completes its output: nothing could follow.
        context.Request.Headers.Remove(HeaderNames.AcceptEncoding);
        await exporter(context).ConfigureAwait(false);
        if (context.Response.StatusCode == StatusCodes.Status200OK && Latencies is { } latencies)
        {
            DurationHistograms.Write(context.Response.BodyWriter, latencies.ReadTotals());
            await context.Response.BodyWriter.FlushAsync(context.RequestAborted).ConfigureAwait(false);
        }
    }

    // Of the server that the dashboard shows.
    private LatencyStats? Latencies => NamedServices.Find<LatencyStats>(services, options.Value.ServerName);
}
