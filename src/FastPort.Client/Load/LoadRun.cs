using FastPort.Client.Hosting;
using FastPort.Client.Reports;
using FastPort.Hosting;
using FastPort.Programs;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;

namespace FastPort.Client.Load;

/// <summary>One run from start to report: the embedded server if none was given, the load, the progress line, the files.</summary>
internal sealed class LoadRun(
    LoadSettings settings, LoadOptions options, ILoggerFactory loggerFactory, TextWriter output, StatusLine? status)
{
    private readonly TimeProvider _time = TimeProvider.System;
    private readonly LoadErrors _errors = new();

    /// <summary>Executes the run.</summary>
    /// <param name="interrupted">Ends the measurement early; the run still reports.</param>
    /// <exception cref="LoadFailedException">The run failed.</exception>
    public async Task<LoadResult> RunAsync(CancellationToken interrupted)
    {
        Descriptors.Require(settings, DescriptorLimit.Read());
        LoadSettings connecting = settings;
        FastPortServerOptions? hosting = options.Server;
        if (hosting is not null)
        {
            EmbeddedServer.Prepare(hosting, settings);
            connecting = settings with { Transport = LoopShares.Divide(settings.Transport, hosting, Environment.ProcessorCount) };
        }

        await using FastPortServer? hosted = hosting is null
            ? null
            : await EmbeddedServer.StartAsync(hosting, loggerFactory).ConfigureAwait(false);
        string server = settings.Server ?? hosted!.Endpoints[0].ToString();
        var stats = new LatencyStats(LatencyRole.Client, options.Stats.MaxSamplesInMemory, static _ => "Echo", _time);
        await using ILoad load = CreateLoad(connecting, server, stats);
        await ConnectAsync(load, interrupted).ConfigureAwait(false);
        await output.WriteAsync(LoadSummary.Heading(settings, server)).ConfigureAwait(false);
        LoadMeasurement measured = await MeasureAsync(load, stats, hosted, interrupted).ConfigureAwait(false);
        var result = LoadResult.From(settings, server, measured, _errors);
        await output.WriteAsync(LoadSummary.Text(result, _errors, status is not null && TerminalText.IsColored)).ConfigureAwait(false);
        return result;
    }

    private async Task ConnectAsync(ILoad load, CancellationToken interrupted)
    {
        await using ProgressReporter? progress = ProgressReporter.Start(
            status, () => RunProgress.Connecting(load.Connected, settings.Connections), _time);
        try
        {
            await load.ConnectAsync(interrupted).ConfigureAwait(false);
        }
        catch (OperationCanceledException e)
        {
            throw new LoadFailedException("Interrupted before all connections were made; nothing was measured.", ExitCode.Failed, e);
        }
    }

    private async Task<LoadMeasurement> MeasureAsync(
        ILoad load, LatencyStats stats, FastPortServer? hosted, CancellationToken interrupted)
    {
        LatencyStatsWriter? writer = null;
        var bound = new RunBound(hosted);
        LoadMeasurement measured;
        try
        {
            await using ProgressReporter? progress = ProgressReporter.Start(
                status, new RunProgress(settings, load, _errors, _time, interrupted).Next, _time);
            measured = await load.RunAsync(WarmedUp, interrupted).ConfigureAwait(false);
            measured = measured with { BoundBy = bound.Describe(settings, measured) };
            await output.WriteAsync(LoadSummary.Beginning(settings, measured)).ConfigureAwait(false);
        }
        finally
        {
            await (writer?.FinishAsync() ?? Task.CompletedTask).ConfigureAwait(false);
        }

        if (writer is not null)
        {
            if (!options.Stats.EnableConsoleOutput)
            {
                // This option configures only the output of the statistics; a load run always prints its table.
                await output.WriteAsync(LatencyTable.Lifetime(measured.Latencies!)).ConfigureAwait(false);
            }

            if (options.Stats.EnableFileOutput && writer.FailedWrites == 0)
            {
                string files = Path.Combine(Path.GetFullPath(options.Stats.OutputDirectory), options.Stats.OutputFilePrefix);
                await output.WriteLineAsync($"statistics: {files}_*").ConfigureAwait(false);
            }
        }

        return measured;

        // Not before the measured time: an interval of the warm-up would be written.
        void WarmedUp()
        {
            bound = new RunBound(hosted);
            if (settings.Mode == LoadMode.Echo)
            {
                // One-way loads have no latencies to write.
                writer = new LatencyStatsWriter(stats, options.Stats, loggerFactory.CreateLogger<LatencyStatsWriter>(), output);
                writer.Start();
            }
        }
    }

    private ILoad CreateLoad(LoadSettings connecting, string server, LatencyStats stats)
    {
        var watch = new ConnectionWatch(loggerFactory.CreateLogger("FastPort.Client"), _time);
        return settings.Mode switch
        {
            LoadMode.Echo => new EchoLoad(connecting, server, new LoadRecorder(stats, _errors, settings.MeasuresSessions), watch, _time),
            LoadMode.Sink => new SinkLoad(connecting, server, _errors, watch, _time),
            _ => new SourceLoad(connecting, server, _errors, watch, _time),
        };
    }
}
