using System.Runtime.CompilerServices;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpenTelemetry;
using OpenTelemetry.Resources;

namespace FastPort.Programs.Hosting;

/// <summary>
/// Exports metrics and traces to a collector by OTLP, as configured by the standard variables <c>OTEL_*</c>. OpenTelemetry's SDK reads all
/// of them except those that select the exporters, which are read here: without them the SDK is not loaded.
/// </summary>
internal static class OtlpExport
{
    private const string Endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
    private const string ServiceName = "OTEL_SERVICE_NAME";
    private const string ServiceInstance = "service.instance.id";
    private const string Meters = "FastPort";
    private const string Sources = "FastPort*";

    /// <summary>
    /// Adds the exporters that the configuration selects; the start names those that are not available. Call it when all options have been
    /// added.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="configuration">The host's configuration, with the environment.</param>
    /// <param name="program">The service's name, unless <c>OTEL_SERVICE_NAME</c> or <c>OTEL_RESOURCE_ATTRIBUTES</c> has one.</param>
    public static void Add(IServiceCollection services, IConfiguration configuration, string program)
    {
        List<string> problems = [];
        bool metrics = IsWanted(
            configuration, "OTEL_METRICS_EXPORTER", [Endpoint, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"], problems);

        // Not for the endpoint of all signals: without a sampler every request has its activity, which doubles the processor time of a
        // server of millions of small messages. Traces must be enabled explicitly.
        bool traces = IsWanted(configuration, "OTEL_TRACES_EXPORTER", ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"], problems);
        StartProblems.Add(services, problems);
        if (metrics || traces)
        {
            AddSdk(services, configuration, program, metrics, traces);
        }
    }

    // An exporter is enabled if it is named, or if one of the endpoints is set and no exporter is named.
    private static bool IsWanted(IConfiguration configuration, string exporter, string[] endpoints, List<string> problems)
    {
        if (string.Equals(configuration["OTEL_SDK_DISABLED"], "true", StringComparison.OrdinalIgnoreCase))
        {
            return false;
        }

        switch (configuration[exporter])
        {
            case null or "":
                return Array.Exists(endpoints, endpoint => !string.IsNullOrEmpty(configuration[endpoint]));
            case "otlp":
                return true;
            case "none":
                return false;
            case var other:
                problems.Add($"{exporter} is '{other}'; give otlp or none. Prometheus reads /metrics of the dashboard (--dashboard).");
                return false;
        }
    }

    // Not inlined: with it, its caller would load OpenTelemetry's assemblies.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddSdk(IServiceCollection services, IConfiguration configuration, string program, bool metrics, bool traces)
    {
        // The first service that the host creates: the check of options already reads the variables.
        services.Insert(0, ServiceDescriptor.Singleton<IHostedService, OtlpWatch>());
        string attributes = configuration["OTEL_RESOURCE_ATTRIBUTES"] ?? string.Empty;
        bool isNamed = !string.IsNullOrEmpty(configuration[ServiceName]) || attributes.Contains("service.name=", StringComparison.Ordinal);
        bool isInstance = attributes.Contains(ServiceInstance + "=", StringComparison.Ordinal);
        OpenTelemetryBuilder builder = services.AddOpenTelemetry().ConfigureResource(resource =>
        {
            if (!isNamed)
            {
                resource.AddService(program, autoGenerateServiceInstanceId: !isInstance);
            }
            else if (!isInstance)
            {
                // Without it a collector treats two nodes with the same name as one.
                resource.AddAttributes([KeyValuePair.Create<string, object>(ServiceInstance, $"{Guid.NewGuid()}")]);
            }
        });

        // Alone it reads the variables of one signal too, such as OTEL_EXPORTER_OTLP_METRICS_ENDPOINT. A signal without additions here
        // sends nothing; the log belongs to Serilog.
        builder.UseOtlpExporter();
        if (metrics)
        {
            builder.WithMetrics(static metrics => metrics.AddMeter(Meters, "System.Runtime"));
        }

        if (traces)
        {
            builder.WithTracing(static traces => traces.AddSource(Sources));
        }
    }
}
