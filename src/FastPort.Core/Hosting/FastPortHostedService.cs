using System.Diagnostics.Metrics;
using FastPort.Telemetry;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Hosting;

/// <summary>Runs a server, its meter and its latency report with the host.</summary>
internal sealed class FastPortHostedService(
    FastPortServer server,
    LatencyStats stats,
    LatencyStatsOptions options,
    ILoggerFactory loggerFactory,
    IMeterFactory? meters,
    string? name = null,
    TextWriter? console = null)
    : IHostedService, IAsyncDisposable
{
    private static readonly TimeSpan ShortestReportTime = TimeSpan.FromSeconds(1);

    private readonly ILogger<LatencyStatsWriter> _logger = loggerFactory.CreateLogger<LatencyStatsWriter>();
    private LatencyStatsWriter? _writer;
    private FastPortMeter? _meter;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await server.StartAsync(cancellationToken).ConfigureAwait(false);
        _meter = new FastPortMeter(server.Counters, meters, name);
        stats.Meter = _meter;
        if (options.EnableConsoleOutput || options.EnableFileOutput)
        {
            _writer = new LatencyStatsWriter(stats, options, _logger, console);
            _writer.Start();
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        // Not the host's token, which gives all services together 30 s by default: the server's own ShutdownTimeout bounds its stop.
        await server.StopAsync(CancellationToken.None).ConfigureAwait(false);
        await FinishReportAsync(cancellationToken).ConfigureAwait(false);
    }

    public async ValueTask DisposeAsync()
    {
        await server.DisposeAsync().ConfigureAwait(false);
        await FinishReportAsync(CancellationToken.None).ConfigureAwait(false);
        _meter?.Dispose();
    }

    // A console or a disk that takes nothing must not keep the host from its end: the report is given up then.
    private async Task FinishReportAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _writer, null) is not { } writer)
        {
            return;
        }

        TimeSpan limit = server.ShutdownTimeout > ShortestReportTime ? server.ShutdownTimeout : ShortestReportTime;
        try
        {
            await writer.FinishAsync().WaitAsync(limit, stats.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is TimeoutException or OperationCanceledException)
        {
            // Not waited for: the log may go to the same console.
            _ = Task.Run(() => TelemetryLog.ReportGivenUp(_logger, limit), CancellationToken.None);
        }
    }
}
