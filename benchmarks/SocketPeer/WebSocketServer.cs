using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;
using Google.Protobuf;

namespace SocketPeer;

/// <summary>
/// The runtime's WebSocket over its NetworkStream, without a web server: <see cref="WebSocket.CreateFromStream(Stream,
/// WebSocketCreationOptions)"/>. The handshake looks at nothing but the key.
/// </summary>
internal static class WebSocketServer
{
    private const int LargestRequest = 4096;
    private const string KeyField = "\r\nSec-WebSocket-Key: ";
    private const string AcceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

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
            await ShakeHandsAsync(stream);
            using var socket = WebSocket.CreateFromStream(
                stream, new WebSocketCreationOptions { IsServer = true, SubProtocol = WebSocketEcho.SubProtocol });
            await WebSocketEcho.RunAsync(socket);
        }
        catch (Exception e) when (e is PeerException or InvalidProtocolBufferException or IOException)
        {
            await Console.Error.WriteLineAsync($"SocketPeer: {e.Message}");
        }
    }

    private static async Task ShakeHandsAsync(NetworkStream stream)
    {
        byte[] bytes = new byte[LargestRequest];
        int received = 0;
        do
        {
            int count = await stream.ReadAsync(bytes.AsMemory(received));
            received = count > 0 ? received + count : throw new PeerException("A request for a WebSocket ended early or is too long.");
        }
        while (!bytes.AsSpan(0, received).EndsWith("\r\n\r\n"u8));

        string request = Encoding.ASCII.GetString(bytes, 0, received);
        int start = request.IndexOf(KeyField, StringComparison.Ordinal) + KeyField.Length;
        string key = start < KeyField.Length
            ? throw new PeerException("A request has no key of a WebSocket.")
            : request[start..request.IndexOf('\r', start)];
        string accept = Accept(key);
        await stream.WriteAsync(Encoding.ASCII.GetBytes(
            $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
            + $"Sec-WebSocket-Protocol: {WebSocketEcho.SubProtocol}\r\n\r\n"));
    }

    // The handshake's own function of the key: no secret depends on it.
#pragma warning disable CA5350
    private static string Accept(string key) => Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + AcceptSuffix)));
#pragma warning restore CA5350
}
