using System.Text;
using System.Text.Json;
using FastPort.Client.Hosting;
using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Client.Tags;
using FastPort.Client.Top;
using FastPort.Programs;
using FastPort.Telemetry;
using FastPort.Telemetry.Reports.Html;
using Microsoft.Extensions.Configuration;
using Serilog;
using Serilog.Extensions.Logging;
using Spectre.Console;

namespace FastPort.Client.Commands;

/// <summary>Executes the commands.</summary>
internal sealed class ClientCommands : ICommands
{
    public Task<int> LoadAsync(LoadSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            ConsoleOutput.Protect();
            OutputFile.Require("--json", settings.JsonPath);
            OutputFile.Require("--html", settings.HtmlPath);

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
            List<string> problems = [];
            Log.Logger = ProgramRun.CreateLogger(configuration, problems);
            var options = LoadOptions.Read(configuration, settings, problems);
            using var loggerFactory = new SerilogLoggerFactory(Log.Logger);
            LoadResult result = await new LoadRun(settings, options, loggerFactory, Console.Out, status)
                .RunAsync(interruption.Token).ConfigureAwait(false);
            byte[] json = LoadResultWriter.ToUtf8(result);
            bool saved = await SaveAsync(settings.JsonPath, () => json).ConfigureAwait(false)
                & await SaveAsync(settings.HtmlPath, () => HtmlReport.Create(json)).ConfigureAwait(false);
            return saved && Succeeded(result, interruption.Token) ? ExitCode.Good : ExitCode.Failed;
        },
        Console.Error);

    public Task<int> CompareAsync(CompareSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            bool markdownOut = settings.Markdown == "-";
            OutputFile.Require("--markdown", markdownOut ? null : settings.Markdown);
            OutputFile.Require("--html", settings.Html);
            byte[] before = await LoadResultReader.ReadFileAsync(settings.Before).ConfigureAwait(false);
            byte[] after = await LoadResultReader.ReadFileAsync(settings.After).ConfigureAwait(false);
            var comparison = new Comparison(
                LoadResultReader.Parse(settings.Before, before), LoadResultReader.Parse(settings.After, after), Differences(before, after));
            await Console.Out.WriteAsync(
                markdownOut ? ComparisonTable.Markdown(comparison) : ComparisonTable.Text(comparison, TerminalText.IsColored))
                .ConfigureAwait(false);
            bool saved = await SaveAsync(
                    markdownOut ? null : settings.Markdown, () => Encoding.UTF8.GetBytes(ComparisonTable.Markdown(comparison)))
                    .ConfigureAwait(false)
                & await SaveAsync(settings.Html, () => HtmlReport.Compare(before, after)).ConfigureAwait(false);
            return saved ? ExitCode.Good : ExitCode.Failed;
        },
        Console.Error);

    public Task<int> TagsAsync(string command, TagSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            using var interruption = new Interruption();
            return await new TagRun(settings, Console.Out).RunAsync(command, interruption.Token).ConfigureAwait(false);
        },
        Console.Error);

    public Task<int> TopAsync(TopSettings settings) => ProgramRun.ReportAsync(
        async () =>
        {
            using var interruption = new Interruption();
            return await new TopRun(settings, AnsiConsole.Console, TimeProvider.System).RunAsync(interruption.Token).ConfigureAwait(false);
        },
        Console.Error);

    // Only an interrupted run may have measured nothing. An overloaded server may have served messages only after the measured time.
    private static bool Succeeded(LoadResult result, CancellationToken interrupted) =>
        result.Errors == 0 && (result.Messages != 0 || result.RoundTrip is not null || interrupted.IsCancellationRequested);

    private static IReadOnlyList<string> Differences(byte[] before, byte[] after)
    {
        using var x = JsonDocument.Parse(before);
        using var y = JsonDocument.Parse(after);
        return MeasurementDifferences.Find(x.RootElement, y.RootElement);
    }

    // Writes nothing without a path. A page needs more data than the table.
    private static async Task<bool> SaveAsync(string? path, Func<byte[]> contents)
    {
        if (path is null)
        {
            return true;
        }

        try
        {
            await File.WriteAllBytesAsync(path, contents()).ConfigureAwait(false);
            return true;
        }
        catch (Exception e) when (
            e is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException or JsonException)
        {
            await Console.Error.WriteLineAsync($"The result could not be written to '{path}': {e.Message}").ConfigureAwait(false);
            return false;
        }
    }
}
