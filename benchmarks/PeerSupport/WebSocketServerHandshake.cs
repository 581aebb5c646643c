using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;

namespace PeerSupport;

/// <summary>Makes a connection a WebSocket of the runtime's, without a web server. Of the request it looks at the key alone.</summary>
public static class WebSocketServerHandshake
{
    private const int LargestRequest = 4096;
    private const string KeyField = "\r\nSec-WebSocket-Key: ";
    private const string AcceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    /// <summary>Answers the request.</summary>
    /// <exception cref="PeerException">It is no request for a WebSocket.</exception>
    public static async Task<WebSocket> AcceptAsync(NetworkStream stream)
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
        await stream.WriteAsync(Encoding.ASCII.GetBytes(
            $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {Accept(key)}\r\n"
            + $"Sec-WebSocket-Protocol: {WebSocketEcho.SubProtocol}\r\n\r\n"));
        return WebSocket.CreateFromStream(
            stream, new WebSocketCreationOptions { IsServer = true, SubProtocol = WebSocketEcho.SubProtocol });
    }

    // The protocol's own function of the key: no secret depends on it.
#pragma warning disable CA5350
    private static string Accept(string key) => Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + AcceptSuffix)));
#pragma warning restore CA5350
}
