using System.Diagnostics.Metrics;
using FastPort.Logging;
using FastPort.Telemetry;
using FastPort.Telemetry.Metering;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Hosting;

/// <summary>
/// Runs a server, its meter and its latency report with the host. The server starts when every service of the host has started, and stops
/// before any of them stops: sessions find the services that serve them.
/// </summary>
internal sealed class FastPortHostedService(
    FastPortServer server,
    LatencyStats stats,
    LatencyStatsOptions options,
    ILoggerFactory loggerFactory,
    IMeterFactory? meters,
    string? name = null,
    TextWriter? console = null,
    IHostApplicationLifetime? lifetime = null)
    : IHostedLifecycleService, IAsyncDisposable
{
    private static readonly TimeSpan ShortestReportTime = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LateReportTime = TimeSpan.FromSeconds(5);

    private readonly ILogger<LatencyStatsWriter> _logger = loggerFactory.CreateLogger<LatencyStatsWriter>();
    private LatencyStatsWriter? _writer;
    private FastPortMeter? _meter;

    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StartedAsync(CancellationToken cancellationToken)
    {
        await server.StartAsync(cancellationToken).ConfigureAwait(false);
        _meter = new FastPortMeter(server.Counters, stats, ReadMemory, meters, name, ReadCertificates, () => server.Bans.Entries.Count);
        if (options.EnableConsoleOutput || options.EnableFileOutput)
        {
            _writer = new LatencyStatsWriter(stats, options, _logger, console, name);
            _writer.Start();
        }
    }

    // The host's token is not used, because by default it limits all services together to 30 s. ShutdownTimeout bounds the stop.
    public Task StoppingAsync(CancellationToken cancellationToken)
    {
        // The host would raise ApplicationStopping only afterwards: the dashboard shows the drain.
        lifetime?.StopApplication();
        return server.StopAsync(CancellationToken.None);
    }

    public Task StopAsync(CancellationToken cancellationToken) => FinishReportAsync(cancellationToken);

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        await server.DisposeAsync().ConfigureAwait(false);
        await FinishReportAsync(CancellationToken.None).ConfigureAwait(false);
        _meter?.Dispose();
    }

    private ServerMemory ReadMemory()
    {
        ServerLoad load = server.ReadLoad();
        return new ServerMemory(load.PendingBytes, load.BufferedBytes, load.MaxBufferedBytes);
    }

    private IEnumerable<(string Source, DateTimeOffset NotAfter)> ReadCertificates() =>
        server.Certificates.Select(static one => (one.Source, one.NotAfter));

    // A console or disk that blocks must not keep the host from stopping: the report is abandoned then.
    private async Task FinishReportAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _writer, null) is not { } writer)
        {
            return;
        }

        TimeSpan limit = server.ShutdownTimeout > ShortestReportTime ? server.ShutdownTimeout : ShortestReportTime;
        if (cancellationToken.IsCancellationRequested)
        {
            // The stop took longer than the host allows, with a long DrainDelay always: the report has had no time yet. It gets
            // less than the 10 s by which supervisors should wait longer (docs/running.md).
            cancellationToken = CancellationToken.None;
            limit = limit < LateReportTime ? limit : LateReportTime;
        }

        try
        {
            await writer.FinishAsync().WaitAsync(limit, stats.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is TimeoutException or OperationCanceledException)
        {
            // Not awaited: the log may write to the same console.
            _ = Task.Run(() => TelemetryLog.ReportGivenUp(SafeLogger.Of(_logger), limit), CancellationToken.None);
        }
    }
}
