using FastPort.OpcUa.Server;
using FastPort.Programs;
using FastPort.Programs.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.OpcBridge.Simulation;

/// <summary>Builds the host of the simulation and runs it until Ctrl+C or SIGTERM.</summary>
internal static class SimulationProgram
{
    private const int Megabyte = 1024 * 1024;

    private static readonly Dictionary<string, string?> Defaults = new(StringComparer.Ordinal)
    {
        ["OpcUaServer:Endpoints:0"] = "opc.tcp://127.0.0.1:48400",
        ["OpcUaServer:ApplicationName"] = "FastPort simulation",
        ["OpcUaServer:MaxMessageBytes"] = $"{256 * Megabyte}",
    };

    public static Task<int> RunAsync(SimulationSettings settings, CancellationToken cancellationToken) => ProgramRun.ReportAsync(
        async () =>
        {
            ConsoleOutput.Protect();
            using IHost host = Build(settings);
            try
            {
                return await HostRun.UntilStoppedAsync(
                    host,
                    () =>
                    {
                        foreach (Endpoint endpoint in host.Services.GetRequiredService<OpcUaServer>().Endpoints)
                        {
                            // Plain lines on standard output: programs that start this server read them.
                            Console.WriteLine($"listening on {endpoint}");
                        }
                    },
                    cancellationToken).ConfigureAwait(false);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                throw new SimulationFailedException($"The certificates cannot be used: {e.Message}", ExitCode.Failed, e);
            }
        },
        Console.Error);

    private static IHost Build(SimulationSettings settings)
    {
        var users = SimulatedUsers.Read(settings.Users, settings.UsersFile);
        if (settings.NoAnonymous && users.IsEmpty)
        {
            throw new SimulationFailedException("--no-anonymous without --user and --users lets nobody in.", ExitCode.Usage);
        }

        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        builder.Configuration.AddInMemoryCollection(Defaults);
        ProgramRun.AddSettings(builder.Configuration, new TransportChoice());
        HostLog.Add(builder.Services, builder.Configuration);
        SimulatedNodes? nodes = null;
        builder.Services
            .AddOpcUaServer(builder.Configuration, (_, space) => nodes = new SimulatedNodes(space))
            .Configure(options => Apply(settings, users, options));

        // Added after the server: starts after it, and stops before it.
        if (settings.ChangeRate != 0)
        {
            builder.Services.AddSingleton<IHostedService>(_ => new ValueChanger(nodes!, settings.ChangeRate));
        }

        return builder.Build();
    }

    // The command line wins over the configuration, and the configuration over the simulation's defaults.
    private static void Apply(SimulationSettings settings, SimulatedUsers users, OpcUaServerOptions options)
    {
        if (settings.Listen.Count != 0)
        {
            options.Endpoints.Clear();
            foreach (string endpoint in settings.Listen)
            {
                options.Endpoints.Add(endpoint);
            }
        }

        options.SecurityPolicies = settings.Policies.Count != 0 ? [.. settings.Policies] : options.SecurityPolicies;
        options.SecurityModes = settings.Modes.Count != 0 ? [.. settings.Modes] : options.SecurityModes;
        options.AllowAnonymous &= !settings.NoAnonymous;
        options.Certificates.Directory = settings.Certificates ?? options.Certificates.Directory;
        options.Certificates.UnsafeTrustAll |= settings.UnsafeTrustAll;
        options.MaxMessageBytes = settings.MaxMessageMegabytes * Megabyte ?? options.MaxMessageBytes;
        options.MaxSessions = settings.MaxSessions ?? options.MaxSessions;
        if (!users.IsEmpty)
        {
            options.ValidateUser = (name, password, _) => new(users.Has(name, password));
        }
    }
}
