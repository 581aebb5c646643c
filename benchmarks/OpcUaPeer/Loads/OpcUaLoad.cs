using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>A load on an OPC UA server. Each client has a session and a connection of its own; the workers are dealt out to them.</summary>
internal abstract class OpcUaLoad(IReadOnlyList<OpcUaClient> clients) : ILoad
{
    protected IReadOnlyList<OpcUaClient> Clients => clients;

    /// <summary>Connects the clients, and prepares what the settings ask for.</summary>
    public static async Task<ILoad> StartAsync(LoadSettings settings)
    {
        var clients = new OpcUaClient[settings.Clients];
        for (int i = 0; i < clients.Length; i++)
        {
            clients[i] = await OpcUaClient.ConnectAsync(settings.Endpoint, OptionsOf(settings));
        }

        OpcUaLoad load = settings.Operation switch
        {
            Operation.Read => new ReadLoad(clients, settings),
            Operation.Write => new WriteLoad(clients, settings.Count, settings.Workers),
            _ => new PackageLoad(clients, settings.Count),
        };
        await load.PrepareAsync(await Namespaces.FindAsync(clients[0]));
        return load;
    }

    public abstract ValueTask RequestAsync(int worker);

    public abstract Task CheckAsync();

    public async Task<long?> ServerAllocatedAsync()
    {
        ushort index = await Namespaces.FindAsync(clients[0]);
        DataValue[] values = await clients[0].ReadAsync([new NodeId(index, TagValues.AllocatedBytes)]);
        return values[0].Value.TryGet(out long bytes) ? bytes : null;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (OpcUaClient client in clients)
        {
            await client.DisposeAsync();
        }
    }

    /// <summary>Before all runs.</summary>
    /// <param name="index">Index of the tags' namespace.</param>
    protected abstract Task PrepareAsync(ushort index);

    protected OpcUaClient ClientOf(int worker) => clients[worker % clients.Count];

    private static OpcUaClientOptions OptionsOf(LoadSettings settings)
    {
        var options = new OpcUaClientOptions
        {
            SecurityPolicy = settings.Policy,
            Reconnect = false,
            Loops = 1,
            SpinMicroseconds = settings.SpinMicroseconds,

            // The workers do nothing that blocks.
            RunContinuationsOnLoop = true,
        };
        if (settings.Pki is { } pki)
        {
            options.Certificates.Directory = pki;
            options.Certificates.UnsafeTrustAll = true;
        }

        return options;
    }
}
