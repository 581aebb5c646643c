using System.Diagnostics;
using FastPort;
using Google.Protobuf;
using ServicePeer.Contract;

namespace ServicePeer.Calls;

/// <summary>Calls of the generated client, with the default options.</summary>
internal sealed class FastPortCalls : ICalls
{
    private readonly FastPortClient _client;
    private readonly CallsClient _calls;

    public FastPortCalls(string endpoint, bool continuesOnLoop)
    {
        _client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, RunContinuationsOnLoop = continuesOnLoop });
        _calls = new CallsClient(_client);
    }

    public Task ConnectAsync() => _client.ConnectAsync();

    public async Task RunCallerAsync(Payload payload, RoundTrips trips)
    {
        while (!trips.Ended)
        {
            var request = new Message { Payload = ByteString.CopyFrom(payload.Next()) };
            long began = Stopwatch.GetTimestamp();
            Message reply = await _calls.EchoAsync(request);
            trips.Record(began);
            payload.Verify(reply.Payload.Span);
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
