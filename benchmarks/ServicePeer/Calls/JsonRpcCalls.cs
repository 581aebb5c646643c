using System.Diagnostics;
using System.Net.Sockets;
using ServicePeer.Servers;
using StreamJsonRpc;

namespace ServicePeer.Calls;

/// <summary>Calls of StreamJsonRpc with its fastest documented formatter, MessagePack in length-prefixed messages.</summary>
internal sealed class JsonRpcCalls(string endpoint) : ICalls
{
    private readonly Socket _socket = new(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private JsonRpc? _rpc;

    public async Task ConnectAsync()
    {
        var uri = new Uri(endpoint);
        await _socket.ConnectAsync(uri.Host, uri.Port);
        _rpc = new JsonRpc(JsonRpcServer.CreateHandler(_socket));
        _rpc.StartListening();
    }

    public async Task RunCallerAsync(Payload payload, RoundTrips trips)
    {
        while (!trips.Ended)
        {
            byte[] request = payload.Next();
            long began = Stopwatch.GetTimestamp();
            byte[] reply = await _rpc!.InvokeAsync<byte[]>(JsonRpcServer.Method, request);
            trips.Record(began);
            payload.Verify(reply);
        }
    }

    public ValueTask DisposeAsync()
    {
        _rpc?.Dispose();
        _socket.Dispose();
        return ValueTask.CompletedTask;
    }
}
