using FastPort.Hosting;
using FastPort.Protocol;
using FastPort.Protocol.Diagnostics;
using FastPort.Protocol.Handlers;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Serilog;

namespace FastPort.Server;

/// <summary>Builds the host, runs it until Ctrl+C or SIGTERM and turns what can go wrong into exit codes.</summary>
internal static class ServerProgram
{
    private const ushort QueuedEchoType = 0x1001;

    public static async Task<int> RunAsync(string[] listen, bool queuedEcho, CancellationToken cancellationToken)
    {
        try
        {
            using IHost host = Build(listen, queuedEcho);
            await host.StartAsync(cancellationToken).ConfigureAwait(false);
            foreach (Endpoint endpoint in host.Services.GetRequiredService<FastPortServer>().Endpoints)
            {
                // Plain lines on standard output: programs that start this one read them.
                Console.WriteLine($"listening on {endpoint}");
            }

            await host.WaitForShutdownAsync(CancellationToken.None).ConfigureAwait(false);
            return ExitCode.Good;
        }
        catch (FastPortOptionsException e)
        {
            foreach (string problem in e.Problems)
            {
                await Console.Error.WriteLineAsync(problem).ConfigureAwait(false);
            }

            return ExitCode.Usage;
        }
        catch (EndpointException e)
        {
            await Console.Error.WriteLineAsync(e.Message).ConfigureAwait(false);
            return ExitCode.Failed;
        }
        catch (FileNotFoundException e)
        {
            // No appsettings.json.
            await Console.Error.WriteLineAsync(e.Message).ConfigureAwait(false);
            return ExitCode.Usage;
        }
        catch (InvalidDataException e)
        {
            // appsettings.json is no JSON.
            await Console.Error.WriteLineAsync(e.InnerException is null ? e.Message : $"{e.Message} {e.InnerException.Message}").ConfigureAwait(false);
            return ExitCode.Usage;
        }
        finally
        {
            await Log.CloseAndFlushAsync().ConfigureAwait(false);
        }
    }

    private static Serilog.Core.Logger CreateLogger(IConfiguration configuration)
    {
        try
        {
            return new LoggerConfiguration().ReadFrom.Configuration(configuration).CreateLogger();
        }
        catch (Exception e)
        {
            // Serilog has no exception of its own for a configuration that it cannot use.
            throw new FastPortOptionsException([$"Serilog: {e.Message}"]);
        }
    }

    private static IHost Build(string[] listen, bool queuedEcho)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
        builder.Configuration.AddJsonFile("appsettings.json", optional: false).AddEnvironmentVariables();
        Log.Logger = CreateLogger(builder.Configuration);
        builder.Logging.AddSerilog(Log.Logger);

        // The host would log why it cannot start with a stack trace; this program says it in a sentence.
        builder.Logging.AddFilter<Serilog.Extensions.Logging.SerilogLoggerProvider>("Microsoft.Extensions.Hosting.Internal.Host", LogLevel.Critical);
        builder.Services.AddMetrics();

        // This program reports also where its appsettings.json has lost the section.
        builder.Services.AddSingleton(_ => FastPortConfiguration.BindLatencyStats(builder.Configuration));
        builder.Services
            .AddFastPort(builder.Configuration, options => options.Endpoints = listen.Length != 0 ? listen : options.Endpoints)
            .Map(handlers =>
            {
                handlers.MapDiagnostics();
                if (queuedEcho)
                {
                    handlers.MapQueued(QueuedEchoType, Echo.Parser, static (echo, _) => new ValueTask<Echo>(new Echo { Payload = echo.Payload }));
                }
            });
        return builder.Build();
    }
}
