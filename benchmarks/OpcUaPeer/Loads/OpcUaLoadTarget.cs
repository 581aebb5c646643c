using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>A session of the OPC UA server.</summary>
internal sealed class OpcUaLoadTarget : ILoadTarget
{
    private readonly OpcUaClient _client;

    private OpcUaLoadTarget(OpcUaClient client, LoadSettings settings)
    {
        _client = client;
        Load = settings.Operation switch
        {
            Operation.Read => new ReadLoad(client, settings.Count, settings.Outstanding, settings.MaxAge),
            Operation.Write => new WriteLoad(client, settings.Count, settings.Outstanding),
            _ => new PackageLoad(client, settings.Count),
        };
    }

    public ILoad Load { get; }

    public static async Task<ILoadTarget> ConnectAsync(LoadSettings settings)
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
        options.Certificates.Directory = settings.Pki;
        options.Certificates.UnsafeTrustAll = true;
        return new OpcUaLoadTarget(await OpcUaClient.ConnectAsync(settings.Endpoint, options), settings);
    }

    public async ValueTask<long?> ServerAllocatedAsync()
    {
        ushort index = await Namespaces.FindAsync(_client);
        DataValue[] values = await _client.ReadAsync([new NodeId(index, TagValues.AllocatedBytes)]);
        return values[0].Value.TryGet(out long bytes) ? bytes : null;
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
