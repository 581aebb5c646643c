using System.Diagnostics;
using FastPort;
using FastPort.Protocol;
using Google.Protobuf;
using ServicePeer.Contract;
using ServicePeer.Servers;

namespace ServicePeer.Calls;

/// <summary>Calls by message type, without a service, with the default options.</summary>
internal sealed class NumberedCalls(string endpoint) : ICalls
{
    private readonly FastPortClient _client = new(new FastPortClientOptions { Endpoint = endpoint });

    public Task ConnectAsync() => _client.ConnectAsync();

    public async Task RunCallerAsync(Payload payload, RoundTrips trips)
    {
        while (!trips.Ended)
        {
            var request = new Message { Payload = ByteString.CopyFrom(payload.Next()) };
            long began = Stopwatch.GetTimestamp();
            Message reply = await _client.RequestAsync(FastPortServers.Numbered, request, Message.Parser);
            trips.Record(began);
            payload.Verify(reply.Payload.Span);
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
