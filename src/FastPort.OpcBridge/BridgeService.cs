using FastPort.OpcBridge.Sources;
using FastPort.OpcUa.Server;
using FastPort.Protocol.Tags.Serving;
using Microsoft.Extensions.Hosting;

namespace FastPort.OpcBridge;

/// <summary>
/// Starts the sources after the bridge's own OPC UA server and before the FastPort server, and gives endpoints that answer the time to list
/// their tags. Stops them after the FastPort server.
/// </summary>
internal sealed class BridgeService(IReadOnlyList<OpcUaTagSource> sources, TagServer tags, OpcUaServer? simulation) : IHostedService
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (OpcUaTagSource source in sources)
        {
            source.Start(simulation?.Endpoints[0].ToString());
        }

        await Task.WhenAll(sources.Select(static source => source.Loaded))
            .WaitAsync(Patience, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await tags.DisposeAsync().ConfigureAwait(false);
        foreach (OpcUaTagSource source in sources)
        {
            await source.DisposeAsync().ConfigureAwait(false);
        }
    }
}
