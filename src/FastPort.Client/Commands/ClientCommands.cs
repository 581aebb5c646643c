using System.Text;
using FastPort.Client.Hosting;
using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Client.Tags;
using FastPort.Programs;
using Microsoft.Extensions.Configuration;
using Serilog;
using Serilog.Extensions.Logging;

namespace FastPort.Client.Commands;

/// <summary>Executes the commands.</summary>
internal sealed class ClientCommands : ICommands
{
    public Task<int> LoadAsync(LoadSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            // Only a terminal can overwrite a line.
            using StatusLine? status = settings.Progress && !Console.IsOutputRedirected
                ? new StatusLine(Console.Out, static () => Console.WindowWidth)
                : null;
            if (status is not null)
            {
                Console.SetOut(status);
            }

            using var interruption = new Interruption(status is null ? null : status.Abandon);
            var builder = new ConfigurationBuilder();
            ProgramRun.AddSettings(builder, settings.Transport);
            IConfigurationRoot configuration = builder.Build();
            Log.Logger = ProgramRun.CreateLogger(configuration);
            using var loggerFactory = new SerilogLoggerFactory(Log.Logger);
            LoadResult result = await new LoadRun(settings, configuration, loggerFactory, Console.Out, status)
                .RunAsync(interruption.Token).ConfigureAwait(false);
            bool saved = settings.JsonPath is null
                || await SaveAsync(settings.JsonPath, LoadResultWriter.ToUtf8(result)).ConfigureAwait(false);
            return saved && Succeeded(result, interruption.Token) ? ExitCode.Good : ExitCode.Failed;
        },
        Console.Error);

    public Task<int> CompareAsync(CompareSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            var comparison = new Comparison(
                await LoadResultReader.ReadAsync(settings.Before).ConfigureAwait(false), await LoadResultReader.ReadAsync(settings.After)
                    .ConfigureAwait(false));
            bool markdownOut = settings.Markdown == "-";
            await Console.Out.WriteAsync(markdownOut ? ComparisonTable.Markdown(comparison) : ComparisonTable.Text(comparison))
                .ConfigureAwait(false);
            return settings.Markdown is null || markdownOut
                || await SaveAsync(settings.Markdown, Encoding.UTF8.GetBytes(ComparisonTable.Markdown(comparison))).ConfigureAwait(false)
                ? ExitCode.Good
                : ExitCode.Failed;
        },
        Console.Error);

    public Task<int> TagsAsync(string command, TagSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            using var interruption = new Interruption();
            return await new TagRun(settings, Console.Out).RunAsync(command, interruption.Token).ConfigureAwait(false);
        },
        Console.Error);

    // Only an interrupted run may have measured nothing.
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
