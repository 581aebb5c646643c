using System.Buffers.Binary;
using FastPort.Protocol;
using Google.Protobuf;
using static PeerSupport.FrameBytes;

namespace PeerSupport;

/// <summary>Answers FastPort frames that hold an Echo, as FastPort.Server's handler does: parses each and encodes it again.</summary>
public static class TypedEcho
{
    /// <summary>Answers the whole frames at the beginning of some bytes.</summary>
    /// <param name="requests">The bytes that were received.</param>
    /// <param name="replies">Takes the replies; at least as long as the requests.</param>
    /// <returns>The bytes of the whole frames, and those of their replies.</returns>
    /// <exception cref="PeerException">The bytes are no frames.</exception>
    /// <exception cref="InvalidProtocolBufferException">A body is no Echo.</exception>
    public static (int Taken, int Written) Answer(ReadOnlySpan<byte> requests, Span<byte> replies)
    {
        int taken = 0;
        int written = 0;
        while (requests.Length - taken >= HeaderSize)
        {
            ReadOnlySpan<byte> request = requests[taken..];
            if (!TryReadFrameSize(request, out int frameSize))
            {
                throw new PeerException($"A frame begins {Convert.ToHexString(request[..HeaderSize])}.");
            }

            if (request.Length < frameSize)
            {
                break;
            }

            Echo echo = Echo.Parser.ParseFrom(request[HeaderSize..frameSize]);
            int bodySize = echo.CalculateSize();
            Span<byte> reply = replies.Slice(written, HeaderSize + bodySize);
            request[..HeaderSize].CopyTo(reply);
            BinaryPrimitives.WriteInt32LittleEndian(reply, reply.Length - LengthFieldSize);
            reply[FlagsOffset] |= ReplyFlag;
            echo.WriteTo(reply[HeaderSize..]);
            taken += frameSize;
            written += reply.Length;
        }

        return (taken, written);
    }
}
