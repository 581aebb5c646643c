using System.Diagnostics;
using FastPort.OpcUa.Server;
using FastPort.Programs;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Serilog;
using Serilog.Extensions.Logging;

namespace FastPort.OpcBridge.Simulation;

/// <summary>Runs the simulation until Ctrl+C or SIGTERM.</summary>
internal static class SimulationProgram
{
    private const int MaxMessageBytes = 256 * 1024 * 1024;
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    public static Task<int> RunAsync(string[] listen, int changeRate, CancellationToken cancellationToken) => ProgramRun.ReportAsync(
        async () =>
        {
            var configuration = new ConfigurationBuilder();
            ProgramRun.AddSettings(configuration, new TransportChoice());
            Log.Logger = ProgramRun.CreateLogger(configuration.Build());
            using var loggers = new SerilogLoggerFactory();
            var options = new OpcUaServerOptions
            {
                ApplicationName = "FastPort simulation",
                MaxMessageBytes = MaxMessageBytes,
            };
            foreach (string endpoint in listen)
            {
                options.Endpoints.Add(endpoint);
            }

            await using var server = new OpcUaServer(options, loggers);
            var nodes = new SimulatedNodes(server.AddressSpace);
            await server.StartAsync(cancellationToken).ConfigureAwait(false);
            foreach (Endpoint endpoint in server.Endpoints)
            {
                // Plain lines on standard output: programs that start this server read them.
                Console.WriteLine($"listening on {endpoint}");
            }

            try
            {
                await ChangeAsync(nodes, changeRate, cancellationToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                // Ctrl+C or SIGTERM.
            }

            return ExitCode.Good;
        },
        Console.Error);

    // As many changes as the time that has passed asks for, so that a late step makes up for itself.
    private static async Task ChangeAsync(SimulatedNodes nodes, int rate, CancellationToken cancellationToken)
    {
        if (rate == 0)
        {
            await Task.Delay(Timeout.Infinite, cancellationToken).ConfigureAwait(false);
        }

        using var timer = new PeriodicTimer(Step);
        var watch = Stopwatch.StartNew();
        long done = 0;
        while (await timer.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false))
        {
            for (long due = (long)(watch.Elapsed.TotalSeconds * rate); done < due; done++)
            {
                nodes.Change((int)(done % nodes.Count), (int)(1 + (done / nodes.Count)));
            }
        }
    }
}
