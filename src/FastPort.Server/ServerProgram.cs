using FastPort.Programs;
using FastPort.Programs.Hosting;
using FastPort.Protocol;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Server;

/// <summary>Builds the host and runs it until Ctrl+C or SIGTERM.</summary>
internal static class ServerProgram
{
    private const ushort QueuedEchoType = 0x1001;

    public static Task<int> RunAsync(
        string[] listen,
        bool queuedEcho,
        string? dashboard,
        TransportChoice transport,
        string? settings,
        CancellationToken cancellationToken) =>
        ProgramRun.ReportAsync(
        async () =>
        {
            ConsoleOutput.Protect();
            using IHost host = Build(listen, queuedEcho, dashboard, transport, settings);
            try
            {
                return await HostRun.UntilStoppedAsync(host, () => Tell(host.Services), cancellationToken).ConfigureAwait(false);
            }
            catch (InvalidOperationException e) when (BackplaneSection.IsFailure(e))
            {
                throw new NotJoinedException(e);
            }
        },
        Console.Error);

    private static void Tell(IServiceProvider services)
    {
        foreach (Endpoint endpoint in services.GetRequiredService<FastPortServer>().Endpoints)
        {
            // Plain lines on standard output: programs that start this server read them.
            Console.WriteLine($"listening on {endpoint}");
        }

        DashboardOption.Tell(services);
    }

    private static IHost Build(
        string[] listen, bool queuedEcho, string? dashboard, TransportChoice transport, string? settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        ProgramRun.AddSettings(builder.Configuration, transport, settings);
        DashboardLogging? dashboardLog = DashboardOption.Add(builder.Services, builder.Configuration, dashboard);
        HostLog.Add(builder.Services, builder.Configuration, dashboardLog);
        builder.Services.AddSystemd();
        builder.Services.AddMetrics();
        builder.Services
            .AddFastPort(builder.Configuration, options => options.Endpoints = listen.Length != 0 ? listen : options.Endpoints)
            .Map(handlers =>
            {
                handlers.MapDiagnostics();
                if (queuedEcho)
                {
                    handlers.MapQueued(
                        QueuedEchoType, Echo.Parser, static (echo, _) =>
                            new ValueTask<Echo>(new Echo { Payload = echo.Payload }), BytesFields.Borrowed);
                }
            })
            .MapStatus(builder.Configuration)
            .AddSecurityIfConfigured(builder.Configuration)
            .AddBackplaneIfConfigured(builder.Configuration);
        if (!builder.Configuration.GetSection(LatencyStatsOptions.SectionName).Exists())
        {
            // This program reports latencies even if its appsettings.json does not have the section.
            builder.Services.Configure<LatencyStatsOptions>(static o => o.EnableConsoleOutput = o.EnableFileOutput = true);
        }

        OtlpExport.Add(builder.Services, builder.Configuration, "FastPort.Server");
        return builder.Build();
    }

    /// <summary>The node could not join the others.</summary>
    private sealed class NotJoinedException(Exception inner) : ProgramFailedException(inner.Message, Programs.ExitCode.Failed, inner);
}
