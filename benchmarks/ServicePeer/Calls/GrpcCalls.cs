using System.Diagnostics;
using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;
using ServicePeer.Contract;

namespace ServicePeer.Calls;

/// <summary>Unary calls of Grpc.Net.Client, on a channel with a connection of its own.</summary>
internal sealed class GrpcCalls : ICalls
{
    private readonly SocketsHttpHandler _handler = new() { EnableMultipleHttp2Connections = false };
    private readonly GrpcChannel _channel;
    private readonly Contract.Calls.CallsClient _client;

    public GrpcCalls(string endpoint)
    {
        _channel = GrpcChannel.ForAddress(
            $"http://{new Uri(endpoint).Authority}", new GrpcChannelOptions { HttpHandler = _handler, DisposeHttpClient = true });
        _client = new Contract.Calls.CallsClient(_channel);
    }

    public async Task ConnectAsync() => await _client.EchoAsync(new Message());

    public async Task RunCallerAsync(Payload payload, RoundTrips trips)
    {
        while (!trips.Ended)
        {
            var request = new Message { Payload = ByteString.CopyFrom(payload.Next()) };
            long began = Stopwatch.GetTimestamp();
            Message reply = await _client.EchoAsync(request);
            trips.Record(began);
            payload.Verify(reply.Payload.Span);
        }
    }

    public async Task RunExchangeAsync(Payload sent, Payload expected, RoundTrips trips)
    {
        using AsyncDuplexStreamingCall<Message, Message> call = _client.Exchange();
        Task sending = SendAsync(call.RequestStream);
        await foreach (Message reply in call.ResponseStream.ReadAllAsync())
        {
            expected.Next();
            expected.Verify(reply.Payload.Span);
            trips.Count();
        }

        await sending;

        async Task SendAsync(IClientStreamWriter<Message> requests)
        {
            while (!trips.Ended)
            {
                await requests.WriteAsync(new Message { Payload = ByteString.CopyFrom(sent.Next()) });
            }

            await requests.CompleteAsync();
        }
    }

    public async Task RunWatcherAsync(Payload payload, RoundTrips trips)
    {
        var request = new Message { Payload = ByteString.CopyFrom(payload.Next()) };
        using AsyncServerStreamingCall<Message> call = _client.Watch(request, cancellationToken: trips.End);
        try
        {
            await foreach (Message reply in call.ResponseStream.ReadAllAsync())
            {
                payload.Verify(reply.Payload.Span);
                trips.Count();
            }
        }
        catch (RpcException) when (trips.Ended)
        {
            // The end, with one status or another.
        }
    }

    public ValueTask DisposeAsync()
    {
        _channel.Dispose();
        _handler.Dispose();
        return ValueTask.CompletedTask;
    }
}
