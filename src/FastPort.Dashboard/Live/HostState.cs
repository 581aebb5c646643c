using Microsoft.Extensions.Hosting;

namespace FastPort.Dashboard.Live;

/// <summary>The state of the host between its start and its end, in the page's terms.</summary>
internal sealed class HostState(IHostApplicationLifetime lifetime)
{
    /// <summary>starting, running, draining or stopped.</summary>
    public string Name =>
        lifetime.ApplicationStopped.IsCancellationRequested || IsStopped ? "stopped"
        : lifetime.ApplicationStopping.IsCancellationRequested ? "draining"
        : lifetime.ApplicationStarted.IsCancellationRequested ? "running"
        : "starting";

    /// <summary>Set when every server has stopped; only the dashboard is left.</summary>
    public bool IsStopped { get; set; }
}
