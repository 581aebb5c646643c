using FastPort.Hosting;
using FastPort.OpcBridge.Configuration;
using FastPort.OpcBridge.Simulation;
using FastPort.OpcBridge.Sources;
using FastPort.OpcUa.Server;
using FastPort.Programs;
using FastPort.Protocol.Tags.Serving;
using FastPort.Telemetry;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Serilog;

namespace FastPort.OpcBridge;

/// <summary>Builds the host of the bridge and runs it until Ctrl+C or SIGTERM.</summary>
internal static class BridgeProgram
{
    private const string SimulationName = "simulation";
    private const string Client = "dotnet run -c Release --project src/FastPort.Client --";

    // Each of the simulation's variables changes about once a second.
    private const int SimulatedChanges = 2000;

    public static Task<int> RunAsync(string[] listen, TransportChoice transport, CancellationToken cancellationToken) =>
        ProgramRun.ReportAsync(
            async () =>
            {
                using IHost host = Build(listen, transport, out bool isSimulated);
                await host.StartAsync(cancellationToken).ConfigureAwait(false);

                // Plain lines on standard output: programs that start this one read them.
                foreach (Endpoint endpoint in host.Services.GetRequiredService<FastPortServer>().Endpoints)
                {
                    Console.WriteLine($"listening on {endpoint}");
                }

                foreach (Endpoint endpoint in host.Services.GetService<OpcUaServer>()?.Endpoints ?? [])
                {
                    Console.WriteLine($"listening on {endpoint}");
                }

                if (isSimulated)
                {
                    Console.WriteLine("No endpoint is configured: 2,000 simulated tags are bridged. In another terminal:");
                    Console.WriteLine($"  {Client} tags browse simulation");
                    Console.WriteLine($"  {Client} tags watch simulation/Int32.0 simulation/String.0");
                }

                await host.WaitForShutdownAsync(CancellationToken.None).ConfigureAwait(false);
                return ExitCode.Good;
            },
            Console.Error);

    private static IHost Build(string[] listen, TransportChoice transport, out bool isSimulated)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        ProgramRun.AddSettings(builder.Configuration, transport);
        Log.Logger = ProgramRun.CreateLogger(builder.Configuration);
        builder.Services.AddSerilog();
        builder.Services.AddMetrics();
        var settings = BridgeSettings.Read(builder.Configuration);
        isSimulated = settings.Endpoints.Count == 0;
        if (isSimulated)
        {
            AddSimulation(builder, settings);
        }

        builder.Services.AddSingleton<IReadOnlyList<OpcUaTagSource>>(provider =>
            [.. settings.Endpoints.Select(endpoint =>
                new OpcUaTagSource(endpoint, settings, provider.GetRequiredService<ILoggerFactory>()))]);
        builder.Services.AddSingleton(static provider => new TagServer(
            provider.GetRequiredService<IReadOnlyList<OpcUaTagSource>>(),
            loggerFactory: provider.GetRequiredService<ILoggerFactory>(),
            latencies: provider.GetRequiredService<LatencyStats>()));
        builder.Services.AddSingleton<IHostedService>(static provider => new BridgeService(
            provider.GetRequiredService<IReadOnlyList<OpcUaTagSource>>(),
            provider.GetRequiredService<TagServer>(),
            provider.GetService<OpcUaServer>()));

        // Added last: the server starts when tags are known, and stops first.
        builder.Services
            .AddFastPort(builder.Configuration, options => options.Endpoints = listen.Length != 0 ? listen : options.Endpoints)
            .Map(static (provider, handlers) => handlers.MapTags(provider.GetRequiredService<TagServer>()));
        return builder.Build();
    }

    private static void AddSimulation(HostApplicationBuilder builder, BridgeSettings settings)
    {
        SimulatedNodes? nodes = null;
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["OpcUaServer:Endpoints:0"] = settings.Listen,
            ["OpcUaServer:ApplicationName"] = "FastPort simulation",
        });
        builder.Services.AddOpcUaServer(builder.Configuration, (_, space) => nodes = new SimulatedNodes(space));
        builder.Services.AddSingleton<IHostedService>(_ => new ValueChanger(nodes!, SimulatedChanges));
        settings.Endpoints.Add(new EndpointOptions
        {
            Name = SimulationName,
            AllowWrite = true,
            Below = { $"nsu={SimulatedNodes.NamespaceUri};i={SimulatedNodes.Root}" },
        });
    }
}
