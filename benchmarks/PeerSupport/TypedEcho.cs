using System.Buffers.Binary;
using FastPort.Protocol;
using Google.Protobuf;

namespace PeerSupport;

/// <summary>Answers FastPort frames that hold an Echo, as FastPort.Server's handler does: parses each and encodes it again.</summary>
public static class TypedEcho
{
    private const int HeaderSize = 12;
    private const int LengthFieldSize = 4;
    private const int FlagsOffset = 6;
    private const int VersionOffset = 7;
    private const byte CurrentVersion = 1;
    private const byte ReplyFlag = 1;
    private const uint LargestLength = 1024 * 1024;

    /// <summary>Answers the whole frames at the beginning of some bytes.</summary>
    /// <param name="requests">What has come.</param>
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
            uint length = BinaryPrimitives.ReadUInt32LittleEndian(request);
            if (length is < HeaderSize - LengthFieldSize or > LargestLength || request[VersionOffset] != CurrentVersion)
            {
                throw new PeerException($"A frame begins {Convert.ToHexString(request[..HeaderSize])}.");
            }

            int frameSize = (int)length + LengthFieldSize;
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
