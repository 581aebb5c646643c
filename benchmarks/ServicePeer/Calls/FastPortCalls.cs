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

    public async Task RunExchangeAsync(Payload sent, Payload expected, RoundTrips trips)
    {
        await foreach (Message reply in _calls.ExchangeAsync(SendAsync()))
        {
            expected.Next();
            expected.Verify(reply.Payload.Span);
            trips.Count();
        }

        async IAsyncEnumerable<Message> SendAsync()
        {
            await Task.CompletedTask;
            while (!trips.Ended)
            {
                yield return new Message { Payload = ByteString.CopyFrom(sent.Next()) };
            }
        }
    }

    public async Task RunWatcherAsync(Payload payload, RoundTrips trips)
    {
        var request = new Message { Payload = ByteString.CopyFrom(payload.Next()) };
        try
        {
            await foreach (Message reply in _calls.WatchAsync(request, cancellationToken: trips.End))
            {
                payload.Verify(reply.Payload.Span);
                trips.Count();
            }
        }
        catch (OperationCanceledException)
        {
            // The end.
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
