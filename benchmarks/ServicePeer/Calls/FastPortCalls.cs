using System.Diagnostics;
using FastPort;
using FastPort.Protocol;
using FastPort.Protocol.Diagnostics;
using Google.Protobuf;

namespace ServicePeer.Calls;

/// <summary>Awaited requests of <see cref="FastPortClient"/> with its default options.</summary>
internal sealed class FastPortCalls(string endpoint, bool continuesOnLoop) : ICalls
{
    private readonly FastPortClient _client =
        new(new FastPortClientOptions { Endpoint = endpoint, RunContinuationsOnLoop = continuesOnLoop, Reconnect = false });

    public Task ConnectAsync() => _client.ConnectAsync();

    public async Task RunCallerAsync(Payload payload, RoundTrips trips)
    {
        while (!trips.Ended)
        {
            var request = new Echo { Payload = ByteString.CopyFrom(payload.Next()) };
            long began = Stopwatch.GetTimestamp();
            Echo reply = await _client.RequestAsync(DiagnosticType.Echo, request, Echo.Parser);
            trips.Record(began);
            payload.Verify(reply.Payload.Span);
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
