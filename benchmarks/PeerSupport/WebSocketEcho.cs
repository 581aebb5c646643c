using System.Buffers;
using System.Net.WebSockets;

namespace PeerSupport;

/// <summary>Echoes FastPort frames in binary messages, as a handler of the runtime's WebSockets does it.</summary>
public static class WebSocketEcho
{
    /// <summary>The sub-protocol of such messages.</summary>
    public const string SubProtocol = "fastport.v1";

    // What ASP.NET Core's documentation receives into; larger frames grow it.
    private const int InitialBytes = 4096;

    /// <summary>Answers the frames of each receive with one message, until the peer ends.</summary>
    /// <exception cref="PeerException">What came is no binary message of frames.</exception>
    public static async Task RunAsync(WebSocket socket)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(InitialBytes);
        try
        {
            int filled = 0;
            while (true)
            {
                ValueWebSocketReceiveResult read = await socket.ReceiveAsync(buffer.AsMemory(filled), CancellationToken.None);
                if (read.MessageType == WebSocketMessageType.Close)
                {
                    await socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, CancellationToken.None);
                    return;
                }

                if (read.MessageType != WebSocketMessageType.Binary)
                {
                    throw new PeerException("A text message came; those of frames are binary.");
                }

                filled += read.Count;
                int whole = FrameReplies.Mark(buffer.AsSpan(0, filled));
                if (whole > 0)
                {
                    await socket.SendAsync(
                        buffer.AsMemory(0, whole), WebSocketMessageType.Binary, endOfMessage: true, CancellationToken.None);
                    buffer.AsSpan(whole, filled - whole).CopyTo(buffer);
                    filled -= whole;
                }
                else if (filled == buffer.Length)
                {
                    buffer = Grow(buffer);
                }
            }
        }
        catch (WebSocketException)
        {
            // The peer went away without a Close, which ends the connection like any other end.
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private static byte[] Grow(byte[] buffer)
    {
        byte[] grown = ArrayPool<byte>.Shared.Rent(2 * buffer.Length);
        buffer.CopyTo(grown, 0);
        ArrayPool<byte>.Shared.Return(buffer);
        return grown;
    }
}
