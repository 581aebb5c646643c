using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Programs;

/// <summary>Runs a host as a program.</summary>
internal static class HostRun
{
    /// <summary>Starts a host and runs it until Ctrl+C or SIGTERM, which may come while it starts. Returns the exit code.</summary>
    /// <param name="host">The host.</param>
    /// <param name="onStarted">Called when all of it runs.</param>
    /// <param name="cancellationToken">Stops the start.</param>
    public static async Task<int> UntilStoppedAsync(IHost host, Action onStarted, CancellationToken cancellationToken)
    {
        CancellationToken stopping = host.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
        try
        {
            await host.StartAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The services that have started are stopped in order.
            await host.StopAsync(CancellationToken.None).ConfigureAwait(false);
            return ExitCode.Good;
        }

        onStarted();
        await host.WaitForShutdownAsync(CancellationToken.None).ConfigureAwait(false);
        return ExitCode.Good;
    }
}
