using FastPort;
using FastPort.Tags;

namespace OpcUaPeer.Loads;

/// <summary>A load on a bridge in front of the OPC UA server: one session, over FastPort.</summary>
internal abstract class BridgeLoad(TagClient client) : ILoad
{
    protected TagClient Client => client;

    /// <summary>Connects, and prepares what the settings ask for.</summary>
    public static async Task<ILoad> StartAsync(LoadSettings settings)
    {
        if (settings.Clients != 1)
        {
            throw new PeerException($"A load through a bridge has one client, not {settings.Clients}.");
        }

        TagClient client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = settings.Endpoint,
            Reconnect = false,
            Loops = 1,
            SpinMicroseconds = settings.SpinMicroseconds,
        });
        BridgeLoad load = settings.Operation switch
        {
            Operation.Read => new BridgeReadLoad(client, settings),
            Operation.Write => new BridgeWriteLoad(client, settings.Count, settings.Workers),
            _ => throw new PeerException("Packages are not fetched through a bridge."),
        };
        await load.PrepareAsync();
        return load;
    }

    public abstract ValueTask RequestAsync(int worker);

    public abstract Task CheckAsync();

    public async Task<long?> ServerAllocatedAsync()
    {
        TagSample sample = await client.ReadAsync(TagValues.Bridged("AllocatedBytes"));
        return sample.Value.TryGet(out long bytes) ? bytes : null;
    }

    public ValueTask DisposeAsync() => client.DisposeAsync();

    /// <summary>Before all runs.</summary>
    protected abstract Task PrepareAsync();
}
