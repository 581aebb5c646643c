using System.Text.Json.Nodes;
using System.Threading.Channels;
using FastPort.Conformance.Adapters;

namespace FastPort.Conformance.Tests.Faults;

/// <summary>The .NET client behind a faulty wire.</summary>
internal sealed class FaultyAdapter(Fault fault) : IAdapter
{
    private readonly InProcessAdapter _client = new();
    private FaultyWire? _wire;

    public ChannelReader<JsonObject> Events => _client.Events;

    public void Send(JsonObject command)
    {
        if ((string?)command["do"] == "connect")
        {
            _wire = new FaultyWire(Endpoint.Parse((string)command["endpoint"]!), fault);
            command["endpoint"] = _wire.Endpoint;
        }

        _client.Send(command);
    }

    public async ValueTask DisposeAsync()
    {
        _wire?.Dispose();
        await _client.DisposeAsync();
    }
}
