using System.Buffers;
using System.Net.WebSockets;
using Google.Protobuf;

namespace PeerSupport;

/// <summary>Answers FastPort frames in binary messages, as a handler of the runtime's WebSockets does it.</summary>
public static class WebSocketEcho
{
    /// <summary>The sub-protocol of such messages.</summary>
    public const string SubProtocol = "fastport.v1";

    // What ASP.NET Core's documentation receives into; larger frames grow it.
    private const int InitialBytes = 4096;

    /// <summary>Answers the frames of each receive with one message, until the peer ends.</summary>
    /// <exception cref="PeerException">What came is no binary message of frames.</exception>
    /// <exception cref="InvalidProtocolBufferException">A body is no Echo.</exception>
    public static async Task RunAsync(WebSocket socket)
    {
        byte[] received = ArrayPool<byte>.Shared.Rent(InitialBytes);
        byte[] replies = ArrayPool<byte>.Shared.Rent(InitialBytes);
        try
        {
            int filled = 0;
            while (true)
            {
                ValueWebSocketReceiveResult read = await socket.ReceiveAsync(received.AsMemory(filled), CancellationToken.None);
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
                (int taken, int written) = TypedEcho.Answer(received.AsSpan(0, filled), replies);
                if (taken > 0)
                {
                    await socket.SendAsync(
                        replies.AsMemory(0, written), WebSocketMessageType.Binary, endOfMessage: true, CancellationToken.None);
                    received.AsSpan(taken, filled - taken).CopyTo(received);
                    filled -= taken;
                }
                else if (filled == received.Length)
                {
                    received = Grow(received);
                    replies = Grow(replies);
                }
            }
        }
        catch (WebSocketException)
        {
            // The peer went away without a Close, which ends the connection like any other end.
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(received);
            ArrayPool<byte>.Shared.Return(replies);
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
