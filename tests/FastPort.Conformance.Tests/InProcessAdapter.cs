using System.Text.Json.Nodes;
using System.Threading.Channels;
using FastPort.Conformance.Adapter;
using FastPort.Conformance.Adapters;

namespace FastPort.Conformance.Tests;

/// <summary>The .NET client in this process, without a child process: commands and events are calls.</summary>
internal sealed class InProcessAdapter : IAdapter
{
    private readonly Channel<JsonObject> _events = Channel.CreateUnbounded<JsonObject>();
    private readonly ClientAdapter _client;

    public InProcessAdapter() => _client = new ClientAdapter(report => _events.Writer.TryWrite(report));

    public ChannelReader<JsonObject> Events => _events.Reader;

    public void Send(JsonObject command) => _client.Do(command);

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
