using System.Net.Sockets;
using System.Net.WebSockets;
using Google.Protobuf;

namespace SocketPeer;

/// <summary>The runtime's WebSocket over its NetworkStream, without a web server.</summary>
internal static class WebSocketServer
{
    /// <summary>Accepts connections until the process ends.</summary>
    public static async Task RunAsync(Socket listener)
    {
        while (true)
        {
            Socket socket = await listener.AcceptAsync();
            socket.NoDelay = true;
            _ = ServeAsync(socket);
        }
    }

    private static async Task ServeAsync(Socket connection)
    {
        await using var stream = new NetworkStream(connection, ownsSocket: true);
        try
        {
            using WebSocket socket = await WebSocketServerHandshake.AcceptAsync(stream);
            await WebSocketEcho.RunAsync(socket);
        }
        catch (Exception e) when (e is PeerException or InvalidProtocolBufferException or IOException)
        {
            await Console.Error.WriteLineAsync($"SocketPeer: {e.Message}");
        }
    }
}
