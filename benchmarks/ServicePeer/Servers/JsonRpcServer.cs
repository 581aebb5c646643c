using System.Net;
using System.Net.Sockets;
using StreamJsonRpc;

namespace ServicePeer.Servers;

/// <summary>StreamJsonRpc over TCP.</summary>
internal static class JsonRpcServer
{
    public const string Method = "echo";

    public static IJsonRpcMessageHandler CreateHandler(Socket socket)
    {
        var stream = new NetworkStream(socket, ownsSocket: true);
        return new LengthHeaderMessageHandler(stream, stream, new MessagePackFormatter());
    }

    public static async Task RunAsync(CancellationToken cancellation)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(512);
        Console.WriteLine($"listening on tcp://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}");
        while (true)
        {
            Socket socket = await listener.AcceptSocketAsync(cancellation);
            socket.NoDelay = true;
            var rpc = new JsonRpc(CreateHandler(socket));
            rpc.AddLocalRpcMethod(Method, static (byte[] payload) => payload);
            rpc.StartListening();
        }
    }
}
