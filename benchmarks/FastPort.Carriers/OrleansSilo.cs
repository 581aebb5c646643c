using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Concurrency;
using Orleans.Configuration;
using Orleans.Placement;

namespace FastPort.Carriers;

/// <summary>The node's grain, which is on the node's silo.</summary>
public interface INodeGrain : IGrainWithStringKey
{
    /// <summary>Makes the grain where it is called.</summary>
    [AlwaysInterleave]
    Task PlaceAsync();

    /// <summary>Delivers a batch to the node.</summary>
    /// <param name="batch">The batch.</param>
    [OneWay]
    [AlwaysInterleave]
    Task DeliverAsync(Immutable<byte[]> batch);
}

/// <summary>A call a batch to the grain of the node, from silo to silo; both nodes are silos of one cluster.</summary>
internal sealed class OrleansSilo(string engine) : ICarrier
{
    private IHost _host = null!;
    private IGrainFactory _grains = null!;

    public async Task StartAsync(string node, Action<ReadOnlyMemory<byte>> received)
    {
        // The silos' ports: HOST:PORT is the first one's; the other is the one after it.
        int primary = IPEndPoint.Parse(engine).Port;
        int port = node == "a" ? primary : primary + 1;
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.Logging.SetMinimumLevel(LogLevel.Error);
        builder.Services.AddSingleton(new LocalNode(node, received));
        builder.UseOrleans(silo => silo
            .UseLocalhostClustering(port, port + 100, new IPEndPoint(IPAddress.Loopback, primary))
            .Configure<ClusterOptions>(options => options.ClusterId = options.ServiceId = "carriers"));
        _host = builder.Build();
        await _host.StartAsync();
        _grains = _host.Services.GetRequiredService<IGrainFactory>();
        await _grains.GetGrain<INodeGrain>(node).PlaceAsync();
    }

    public ValueTask SendAsync(string node, byte[] batch) => new(_grains.GetGrain<INodeGrain>(node).DeliverAsync(new(batch)));

    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync();
        _host.Dispose();
    }
}

/// <summary>The node of this silo.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Received">Gets each batch for it.</param>
public sealed record LocalNode(string Name, Action<ReadOnlyMemory<byte>> Received);

/// <inheritdoc cref="INodeGrain"/>
[PreferLocalPlacement]
public sealed class NodeGrain(LocalNode local) : Grain, INodeGrain
{
    /// <inheritdoc/>
    public Task PlaceAsync() => Task.CompletedTask;

    /// <inheritdoc/>
    public Task DeliverAsync(Immutable<byte[]> batch)
    {
        // The grain of a node whose silo is gone is made anew wherever it is called.
        if (this.GetPrimaryKeyString() == local.Name)
        {
            local.Received(batch.Value);
        }

        return Task.CompletedTask;
    }
}
