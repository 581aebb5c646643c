using System.Text.Json.Nodes;
using System.Threading.Channels;

namespace FastPort.Conformance.Adapters;

/// <summary>A client under test, driven by commands; conformance/README.md defines them, and the events that answer them.</summary>
internal interface IAdapter : IAsyncDisposable
{
    /// <summary>The events that the adapter reports; completed when the adapter has ended.</summary>
    ChannelReader<JsonObject> Events { get; }

    /// <summary>Gives it a command. Commands are done in their order; an answer is an event.</summary>
    void Send(JsonObject command);
}
