using FastPort.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.Telemetry;

/// <summary>
/// Writes <see cref="LatencyStats"/> to the console and to files every <see cref="LatencyStatsOptions.FileWriteIntervalSeconds"/> and once
/// at the end.
/// </summary>
/// <remarks>
/// A failed output does not affect the traffic: the writer logs a warning at the first failure, counts each failure in
/// <see cref="FailedWrites"/>, retries at each interval, and logs when the output works again. Files are written before the console, and
/// continue to be written while a blocked console holds up a table; the console skips the tables of that time. The files are named
/// <c>{OutputFilePrefix}_{start:yyyyMMdd_HHmmss}_{role}_{process id}.{log,json,csv}</c>, with
/// <see cref="LatencyStatsOptions.EnableHistogramLog"/> <c>.hlog</c> and with <see cref="LatencyStatsOptions.EnableHtmlOutput"/>
/// <c>.html</c> too, the start in local time. Thread-safe.
/// </remarks>
public sealed class LatencyStatsWriter : IAsyncDisposable
{
    private static readonly TimeSpan ColumnLength = TimeSpan.FromSeconds(1);

    private readonly LatencyStats _stats;
    private readonly ILogger _logger;
    private readonly TextWriter? _console;
    private readonly PeriodicTimer _timer;
    private readonly PeriodicTimer _columns;

    // Only RunAsync uses the outputs and their state; after it has ended, only the final report.
    private readonly LatencyStatsFiles? _files;
    private bool _filesFail;
    private bool _reportsFail;
    private int _reports;

    // The console's last write, which alone uses _consoleFails.
    private Task _consoleWrite = Task.CompletedTask;
    private bool _consoleFails;

    // Guards the two tasks.
    private readonly Lock _lifecycle = new();
    private Task? _loop;
    private Task? _finish;

    private long _failedWrites;

    /// <summary>Creates a writer; <see cref="Start"/> starts it.</summary>
    /// <param name="stats">The statistics to write. The writer cuts their intervals, by the clock of the statistics.</param>
    /// <param name="options">The options, read once by this constructor.</param>
    /// <param name="logger">Logs outputs that fail and recover.</param>
    /// <param name="console">
    /// Receives the tables if <see cref="LatencyStatsOptions.EnableConsoleOutput"/> is set; not disposed. Defaults to
    /// <see cref="Console.Out"/>.
    /// </param>
    /// <param name="name">
    /// The name of the server, for files: after the role in their names, and in the <c>.json</c> file. Defaults to null: it has none.
    /// </param>
    /// <exception cref="ArgumentException">An option is wrong; the message names key, value and range.</exception>
    public LatencyStatsWriter(
        LatencyStats stats,
        LatencyStatsOptions options,
        ILogger<LatencyStatsWriter> logger,
        TextWriter? console = null,
        string? name = null)
    {
        ArgumentNullException.ThrowIfNull(stats);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(logger);
        if (options.Validate() is { Count: > 0 } failures)
        {
            throw new ArgumentException(string.Join(' ', failures), nameof(options));
        }

        _stats = stats;
        _logger = SafeLogger.Of(logger);
        _console = options.EnableConsoleOutput ? console ?? Console.Out : null;
        _files = options.EnableFileOutput
            ? new LatencyStatsFiles(
                options, TimeZoneInfo.ConvertTime(stats.Started, stats.Time.LocalTimeZone), stats.Role, name)
            : null;
        _timer = new PeriodicTimer(TimeSpan.FromSeconds(options.FileWriteIntervalSeconds), stats.Time);
        _columns = new PeriodicTimer(ColumnLength, stats.Time);
    }

    /// <summary>Number of failed writes to files and to the console, and of reports that could not be created.</summary>
    public long FailedWrites => Interlocked.Read(ref _failedWrites);

    /// <summary>Starts to write in the background. Without this call only the final report is written.</summary>
    /// <exception cref="InvalidOperationException">Called a second time, or after <see cref="FinishAsync"/>.</exception>
    public void Start()
    {
        lock (_lifecycle)
        {
            if (_loop is not null || _finish is not null)
            {
                throw new InvalidOperationException("The LatencyStatsWriter was already started or finished; start it once.");
            }

            _loop = NoContext.Start(() => Task.WhenAll(Task.Run(RunAsync), Task.Run(SampleTimelineAsync)));
        }
    }

    /// <summary>Ends the background task and writes the final report once; later calls return the same task.</summary>
    /// <remarks>
    /// The task waits for disk and console without a limit; use <see cref="Task.WaitAsync(CancellationToken)"/> for a timeout. It does not
    /// throw: a failure is logged and counted.
    /// </remarks>
    public Task FinishAsync()
    {
        lock (_lifecycle)
        {
            return _finish ??= Task.Run(FinishCoreAsync);
        }
    }

    /// <summary>The same as <see cref="FinishAsync"/>.</summary>
    public async ValueTask DisposeAsync() => await FinishAsync().ConfigureAwait(false);

    private async Task RunAsync()
    {
        Task<bool> tick = _timer.WaitForNextTickAsync().AsTask();
        while (await tick.ConfigureAwait(false))
        {
            tick = _timer.WaitForNextTickAsync().AsTask();
            await TryWriteReportAsync(final: false, tick).ConfigureAwait(false);
        }
    }

    // Apart from the reports, which can wait for a disk.
    private async Task SampleTimelineAsync()
    {
        bool fails = false;
        while (await _columns.WaitForNextTickAsync().ConfigureAwait(false))
        {
            try
            {
                _stats.SampleTimeline();
                fails = false;
            }
            catch (Exception error)
            {
                // Memory was short. Nothing is lost: the next column is longer.
                if (!fails)
                {
                    fails = true;
                    TelemetryLog.ColumnFailed(_logger, error);
                }
            }
        }
    }

    private async Task FinishCoreAsync()
    {
        // Ends the waits for the next tick; a report in progress is completed.
        _timer.Dispose();
        _columns.Dispose();
        if (_loop is { } loop)
        {
            await loop.ConfigureAwait(false);
        }

        await TryWriteReportAsync(final: true, next: null).ConfigureAwait(false);
    }

    // Counts of the application can throw, and many sessions take memory. Later reports and the last one are still created.
    private async Task TryWriteReportAsync(bool final, Task? next)
    {
        try
        {
            await WriteReportAsync(final, next).ConfigureAwait(false);
            _reportsFail = false;
        }
        catch (Exception error)
        {
            Interlocked.Increment(ref _failedWrites);
            if (!_reportsFail)
            {
                _reportsFail = true;
                TelemetryLog.ReportFailed(_logger, error);
            }
        }
    }

    private async Task WriteReportAsync(bool final, Task? next)
    {
        var report = _stats.CutInterval();
        if (_files is not null)
        {
            await WriteFilesAsync(_files, report, final).ConfigureAwait(false);
        }

        if (_console is not null)
        {
            await WriteTableAsync(_console, final ? LatencyTable.Lifetime(report) : LatencyTable.Interval(report), next)
                .ConfigureAwait(false);
        }

        TelemetryLog.ReportWritten(_logger, ++_reports, final);
    }

    // Waits until the next report is due at the longest, the final report without a limit.
    private async Task WriteTableAsync(TextWriter console, string table, Task? next)
    {
        if (next is null)
        {
            await _consoleWrite.ConfigureAwait(false);
        }
        else if (!_consoleWrite.IsCompleted)
        {
            Interlocked.Increment(ref _failedWrites);
            return;
        }

        // Writers of consoles block their caller.
        _consoleWrite = Task.Run(() => WriteConsoleAsync(console, table));
        await (next is null ? _consoleWrite : Task.WhenAny(_consoleWrite, next)).ConfigureAwait(false);
    }

    private async Task WriteConsoleAsync(TextWriter console, string table)
    {
        try
        {
            await console.WriteAsync(table).ConfigureAwait(false);
            await console.FlushAsync().ConfigureAwait(false);
        }
        catch (Exception error)
        {
            // Usually a closed pipe.
            Interlocked.Increment(ref _failedWrites);
            if (!_consoleFails)
            {
                _consoleFails = true;
                TelemetryLog.ConsoleFailed(_logger, error);
            }

            return;
        }

        if (_consoleFails)
        {
            _consoleFails = false;
            TelemetryLog.ConsoleRecovered(_logger);
        }
    }

    private async Task WriteFilesAsync(LatencyStatsFiles files, LatencyReport report, bool final)
    {
        var result = await files.WriteAsync(report, final).ConfigureAwait(false);
        Interlocked.Add(ref _failedWrites, result.FailedFiles);
        var fails = result.FailedFiles > 0;
        if (fails && !_filesFail)
        {
            TelemetryLog.FilesFailed(_logger, result.Path!, result.Error!.Message);
        }
        else if (!fails && _filesFail)
        {
            TelemetryLog.FilesRecovered(_logger);
        }

        _filesFail = fails;
    }
}
