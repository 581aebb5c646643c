using FastPort.Clients;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Clients;
using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>A session of a bridge in front of the OPC UA server.</summary>
internal sealed class BridgeLoadTarget : ILoadTarget
{
    private readonly TagClient _client;

    private BridgeLoadTarget(TagClient client, LoadSettings settings)
    {
        _client = client;
        Load = settings.Operation switch
        {
            Operation.Read => new BridgeReadLoad(client, settings),
            Operation.Write => new BridgeWriteLoad(client, settings.Count, settings.Outstanding),
            _ => throw new PeerException("Packages are not fetched through a bridge."),
        };
    }

    public ILoad Load { get; }

    public static async Task<ILoadTarget> ConnectAsync(LoadSettings settings)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = settings.Endpoint,
            Reconnect = false,
            Loops = 1,
            SpinMicroseconds = settings.SpinMicroseconds,
        };
        return new BridgeLoadTarget(await TagClient.ConnectAsync(options), settings);
    }

    public async ValueTask<long?> ServerAllocatedAsync()
    {
        TagSample sample = await _client.ReadAsync(TagValues.Bridged("AllocatedBytes"));
        return sample.Value.TryGet(out long bytes) ? bytes : null;
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
