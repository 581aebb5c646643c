using FastPort.Dashboard;
using FastPort.OpcBridge.Configuration;
using FastPort.OpcBridge.Health;
using FastPort.OpcBridge.Simulation;
using FastPort.OpcUa.Server;
using FastPort.Programs;
using FastPort.Programs.Hosting;
using FastPort.Tags;
using FastPort.Tags.OpcUa.Hosting;
using FastPort.Tags.OpcUa.Published;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace FastPort.OpcBridge;

/// <summary>Builds the host of the bridge and runs it until Ctrl+C or SIGTERM.</summary>
internal static class BridgeProgram
{
    private const string ApplicationNameKey = "OpcUaServer:ApplicationName";
    private const string SimulationName = "simulation";
    private const string Client = "dotnet run -c Release --project src/FastPort.Client --";

    // Each of the simulation's variables changes about once a second.
    private const int SimulatedChanges = 2000;

    public static Task<int> RunAsync(
        string[] listen, string? dashboard, TransportChoice transport, string? file, CancellationToken cancellationToken) =>
        ProgramRun.ReportAsync(
            async () =>
            {
                ConsoleOutput.Protect();
                using IHost host = Build(listen, dashboard, transport, file, out bool isSimulated);
                return await HostRun.UntilStoppedAsync(host, () => Tell(host.Services, isSimulated), cancellationToken)
                    .ConfigureAwait(false);
            },
            Console.Error);

    // Plain lines on standard output: programs that start this one read them.
    private static void Tell(IServiceProvider services, bool isSimulated)
    {
        foreach (Endpoint endpoint in services.GetRequiredService<FastPortServer>().Endpoints)
        {
            Console.WriteLine($"listening on {endpoint}");
        }

        foreach (Endpoint endpoint in services.GetService<OpcUaServer>()?.Endpoints ?? [])
        {
            Console.WriteLine($"listening on {endpoint}");
        }

        DashboardOption.Tell(services);
        if (isSimulated)
        {
            Console.WriteLine("No endpoint is configured: 2,000 simulated tags are bridged. In another terminal:");
            Console.WriteLine($"  {Client} tags browse simulation");
            Console.WriteLine($"  {Client} tags watch simulation/Int32.0 simulation/String.0");
        }
    }

    private static IHost Build(
        string[] listen, string? dashboard, TransportChoice transport, string? file, out bool isSimulated)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        ProgramRun.AddSettings(builder.Configuration, transport, file);
        DashboardLogging? dashboardLog = DashboardOption.Add(builder.Services, builder.Configuration, dashboard);
        HostLog.Add(builder.Services, builder.Configuration, dashboardLog);
        builder.Services.AddSystemd();
        builder.Services.AddMetrics();
        List<string> problems = [];
        var settings = BridgeSettings.Read(builder.Configuration, problems);
        isSimulated = settings.Tags.Endpoints.Count == 0;
        if (isSimulated)
        {
            settings.Simulate(SimulationName, $"nsu={SimulatedNodes.NamespaceUri};i={SimulatedNodes.Root}");
        }

        if (settings.AllowPublish)
        {
            AddOwnServer(builder, settings);
        }

        bool hasSecurity = builder.Configuration.HasSecurity();
        if (hasSecurity)
        {
            builder.Services.AddSingleton(static provider => TagPolicy.Find(provider)!);
        }

#if WITH_OPC_FOUNDATION
        builder.Services.AddOpcFoundationStack();
#else
        problems.AddRange(OpcFoundationCheck.Problems(settings.Tags));
#endif
        StartProblems.Add(builder.Services, problems);
        builder.Services.AddOpcUaTags(settings.Tags);

        if (builder.Services.Any(static service => service.ServiceType == typeof(DashboardServer)))
        {
            builder.Services.AddHealthChecks().AddCheck<EndpointsHealthCheck>(EndpointsHealthCheck.Name);
        }

        builder.Services
            .AddFastPort(builder.Configuration, options => options.Endpoints = listen.Length != 0 ? listen : options.Endpoints)
            .MapTags()
            .Map((provider, handlers) =>
            {
                PublishedTagSource? published = provider.GetService<PublishedTagSource>();
                if (published is not null)
                {
                    handlers.MapPublishedTags(published);
                }

                if (hasSecurity)
                {
                    TagPolicy.Watch(provider, provider.GetRequiredService<TagServer>(), published);
                }
            })
            .MapStatus(builder.Configuration)
            .AddSecurityIfConfigured(builder.Configuration);
        OtlpExport.Add(builder.Services, builder.Configuration, "FastPort.OpcBridge");
        return builder.Build();
    }

    // It needs the FastPort server. If that cannot be created, the start names why; the mistakes in these options are named, too.
    private static void ApplySecurity(
        OpcUaServerOptions options, IServiceProvider provider, BridgeSettings settings, Func<VariableNode, string?> tagOf)
    {
        try
        {
            OwnServerSecurity.Apply(options, provider, settings, tagOf);
        }
        catch (Exception e) when (e is OptionsValidationException or FastPortOptionsException)
        {
        }
    }

    // The OPC UA server of the bridge itself, for the simulation and for published tags.
    private static void AddOwnServer(HostApplicationBuilder builder, BridgeSettings settings)
    {
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["OpcUaServer:Endpoints:0"] = settings.Listen,
            [ApplicationNameKey] = builder.Configuration[ApplicationNameKey] ?? "FastPort OPC UA bridge",
        });
        bool hasSecurity = builder.Configuration.HasSecurity();
        SimulatedNodes? simulated = null;
        PublishedNodes? published = null;
        builder.Services.AddSingleton(provider => new PublishedTagSource(
            options: settings.Published, authorizer: provider.GetService<TagAuthorizer>()));
        builder.Services.AddSingleton<ITagSource>(static provider => provider.GetRequiredService<PublishedTagSource>());
        OptionsBuilder<OpcUaServerOptions> own = builder.Services.AddOpcUaServer(builder.Configuration, (provider, space) =>
        {
            simulated = settings.IsSimulated ? new SimulatedNodes(space) : null;
            published = new PublishedNodes(space, provider.GetRequiredService<PublishedTagSource>());
        });

        if (hasSecurity)
        {
            own.Configure<IServiceProvider>((options, provider) => ApplySecurity(options, provider, settings, TagOf));
        }

        // The server is made by its hosted service, which starts before these.
        if (settings.IsSimulated)
        {
            builder.Services.AddSingleton<IHostedService>(provider =>
                new SimulatedEndpoint(provider.GetRequiredService<OpcUaServer>(), settings.Tags.Endpoints[0]));
            builder.Services.AddSingleton<IHostedService>(_ => new ValueChanger(simulated!, SimulatedChanges));
        }

        string? TagOf(VariableNode node) => published?.NameOf(node)
            ?? (simulated?.Has(node) == true ? $"{SimulationName}/{node.BrowseName.Name}" : null);
    }
}
