using System.Diagnostics.Metrics;
using Microsoft.Extensions.Hosting;

namespace FastPort.Redis.Hosting;

/// <summary>
/// Joins the nodes before the host's servers start, and leaves them after they have stopped, or when the host is disposed: a host whose
/// start has failed is not stopped.
/// </summary>
internal sealed class RedisBackplaneService(RedisBackplane backplane, FastPortServerOptions options, IMeterFactory? meters)
    : IHostedLifecycleService, IAsyncDisposable
{
    private readonly BackplaneMeter _meter = new(backplane, meters);

    public Task StartingAsync(CancellationToken cancellationToken) =>
        backplane.StartAsync(options.Routing.RelayTimeout, cancellationToken);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => backplane.StopAsync();

    public async ValueTask DisposeAsync()
    {
        await backplane.StopAsync().ConfigureAwait(false);
        _meter.Dispose();
    }
}
