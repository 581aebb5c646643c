using System.Diagnostics.Metrics;
using FastPort.Telemetry;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Hosting;

/// <summary>Runs a server, its meter and its latency report with the host.</summary>
internal sealed class FastPortHostedService(
    FastPortServer server, LatencyStats stats, LatencyStatsOptions options, ILoggerFactory loggerFactory, IMeterFactory? meters)
    : IHostedService, IAsyncDisposable
{
    private LatencyStatsWriter? _writer;
    private FastPortMeter? _meter;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await server.StartAsync(cancellationToken).ConfigureAwait(false);
        _meter = new FastPortMeter(server.Counters, meters);
        stats.Meter = _meter;
        if (options.EnableConsoleOutput || options.EnableFileOutput)
        {
            _writer = new LatencyStatsWriter(stats, options, loggerFactory.CreateLogger<LatencyStatsWriter>());
            _writer.Start();
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        // Not the host's token, which gives all services together 30 s by default: the server's own ShutdownTimeout bounds its stop.
        await server.StopAsync(CancellationToken.None).ConfigureAwait(false);
        if (_writer is not null)
        {
            await _writer.FinishAsync().ConfigureAwait(false);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await server.DisposeAsync().ConfigureAwait(false);
        if (_writer is not null)
        {
            await _writer.DisposeAsync().ConfigureAwait(false);
        }

        _meter?.Dispose();
    }
}
