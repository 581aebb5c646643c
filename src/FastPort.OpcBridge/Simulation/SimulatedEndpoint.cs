using FastPort.OpcUa.Server;
using FastPort.Tags.OpcUa;
using Microsoft.Extensions.Hosting;

namespace FastPort.OpcBridge.Simulation;

/// <summary>Gives the bridge's source the simulation's endpoint, after its server has started.</summary>
internal sealed class SimulatedEndpoint(OpcUaServer server, OpcUaEndpointOptions endpoint) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        endpoint.Client.EndpointUrl = server.Endpoints[0].ToString();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
