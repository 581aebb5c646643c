using System.Diagnostics.Metrics;
using FastPort.Hosting;
using Microsoft.Extensions.Hosting;

namespace FastPort.Redis.Hosting;

/// <summary>Joins the nodes before the host's servers start, and leaves them after they have stopped.</summary>
internal sealed class RedisBackplaneService(RedisBackplane backplane, FastPortServerOptions options, IMeterFactory? meters)
    : IHostedLifecycleService, IDisposable
{
    private readonly BackplaneMeter _meter = new(backplane, meters);

    public Task StartingAsync(CancellationToken cancellationToken) =>
        backplane.StartAsync(options.Routing.RelayTimeout, cancellationToken);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => backplane.StopAsync();

    public void Dispose() => _meter.Dispose();
}
