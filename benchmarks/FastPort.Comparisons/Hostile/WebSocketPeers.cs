using System.Globalization;
using System.Net.WebSockets;
using System.Text;

namespace FastPort.Comparisons.Hostile;

/// <summary>Handshakes of WebSockets, right and wrong, and what follows them on a connection.</summary>
internal static class WebSocketPeers
{
    private const int LargestHead = 64 * 1024;
    private const int StatusAt = 9;

    /// <summary>A request for a WebSocket without its empty line, to which fields may be added.</summary>
    public static string Request(HostilePlan plan) =>
        FormattableString.Invariant($"GET {HostilePlan.WebSocketPath} HTTP/1.1\r\nHost: {plan.Host}:{plan.WsPort}\r\n")
        + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fastport.v1\r\n";

    /// <summary>Asks, and reads the status of the answer.</summary>
    /// <exception cref="IOException">There is no answer.</exception>
    public static async Task<int> AskAsync(HostilePeer peer, string request, CancellationToken ending)
    {
        await peer.SendAsync(Encoding.ASCII.GetBytes(request), ending);
        return await StatusAsync(peer, ending);
    }

    /// <summary>Reads the head of an answer.</summary>
    /// <returns>Its status.</returns>
    /// <exception cref="IOException">There is no answer.</exception>
    public static async Task<int> StatusAsync(HostilePeer peer, CancellationToken ending)
    {
        var head = new StringBuilder();
        byte[] one = new byte[1];
        while (head.Length < LargestHead && !(head.Length > 3 && head.ToString(head.Length - 4, 4) == "\r\n\r\n"))
        {
            await peer.ReadExactlyAsync(one, ending);
            head.Append((char)one[0]);
        }

        return int.Parse(head.ToString(StatusAt, 3), CultureInfo.InvariantCulture);
    }

    /// <summary>A connection whose handshake is done; its WebSocket frames are the caller's.</summary>
    /// <exception cref="IOException">It was refused.</exception>
    public static async Task<HostilePeer> ConnectAsync(AttackTarget target, CancellationToken ending, int receiveBuffer = 0)
    {
        HostilePeer peer = await HostilePeer.ConnectAsync(target.Ws, target.NextSource(), ending, receiveBuffer);
        try
        {
            int status = await AskAsync(peer, $"{Request(target.Plan)}\r\n", ending);
            return status == 101 ? peer : throw new ComparisonException($"a good handshake was answered with {status}");
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }

    /// <summary>A connection of a good client: its bytes are those of the messages from here on.</summary>
    /// <exception cref="IOException">It was refused.</exception>
    public static async Task<HostilePeer> OpenAsync(HostilePlan plan, CancellationToken ending)
    {
        HostilePeer peer = await HostilePeer.ConnectAsync(plan.Ws(), null, ending);
        try
        {
            int status = await AskAsync(peer, $"{Request(plan)}\r\n", ending);
            if (status != 101)
            {
                throw new IOException($"the handshake was answered with {status}");
            }

            peer.Wrap(static stream => WebSocketStream.Create(
                WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { SubProtocol = "fastport.v1" }),
                WebSocketMessageType.Binary, ownsWebSocket: true));
            return peer;
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }
}
