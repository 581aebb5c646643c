using System.Text;
using FastPort.Client.Hosting;
using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Hosting;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Serilog;
using Serilog.Extensions.Logging;

namespace FastPort.Client.Commands;

/// <summary>Carries the commands out and turns what can go wrong into lines on standard error and exit codes.</summary>
internal sealed class ClientCommands : ICommands
{
    public async Task<int> LoadAsync(LoadSettings settings)
    {
        // Only a terminal can be written over.
        using StatusLine? status = settings.Progress && !Console.IsOutputRedirected ? new StatusLine(Console.Out) : null;
        if (status is not null)
        {
            Console.SetOut(status);
        }

        try
        {
            using var interruption = new Interruption();
            IConfigurationRoot configuration = new ConfigurationBuilder()
                .SetBasePath(AppContext.BaseDirectory)
                .AddJsonFile("appsettings.json", optional: false)
                .AddEnvironmentVariables()
                .Build();
            Log.Logger = new LoggerConfiguration().ReadFrom.Configuration(configuration).CreateLogger();
            using var loggerFactory = new SerilogLoggerFactory(Log.Logger);
            LoadResult result = await new LoadRun(settings, configuration, loggerFactory, Console.Out, status)
                .RunAsync(interruption.Token).ConfigureAwait(false);
            bool saved = settings.JsonPath is null || await SaveAsync(settings.JsonPath, LoadResultWriter.ToUtf8(result)).ConfigureAwait(false);
            return saved && Succeeded(result, interruption.Token) ? ExitCode.Good : ExitCode.Failed;
        }
        catch (LoadFailedException e)
        {
            await Console.Error.WriteLineAsync(e.Message).ConfigureAwait(false);
            return e.ExitCode;
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

    public async Task<int> CompareAsync(CompareSettings settings)
    {
        try
        {
            var comparison = new Comparison(
                await LoadResultReader.ReadAsync(settings.Before).ConfigureAwait(false), await LoadResultReader.ReadAsync(settings.After).ConfigureAwait(false));
            bool markdownOut = settings.Markdown == "-";
            await Console.Out.WriteAsync(markdownOut ? ComparisonTable.Markdown(comparison) : ComparisonTable.Text(comparison)).ConfigureAwait(false);
            return settings.Markdown is null || markdownOut
                || await SaveAsync(settings.Markdown, Encoding.UTF8.GetBytes(ComparisonTable.Markdown(comparison))).ConfigureAwait(false)
                ? ExitCode.Good
                : ExitCode.Failed;
        }
        catch (InvalidResultException e)
        {
            await Console.Error.WriteLineAsync(e.Message).ConfigureAwait(false);
            return ExitCode.Usage;
        }
    }

    // An interrupted run may have measured nothing; any other that did has failed.
    private static bool Succeeded(LoadResult result, CancellationToken interrupted) =>
        result.Errors == 0 && (result.Messages != 0 || interrupted.IsCancellationRequested);

    private static async Task<bool> SaveAsync(string path, byte[] contents)
    {
        try
        {
            await File.WriteAllBytesAsync(path, contents).ConfigureAwait(false);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            await Console.Error.WriteLineAsync($"The result could not be written to '{path}': {e.Message}").ConfigureAwait(false);
            return false;
        }
    }
}
