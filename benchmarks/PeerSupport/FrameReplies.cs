using System.Buffers.Binary;

namespace PeerSupport;

/// <summary>Makes echoes of FastPort frames where they lie, by their Reply bit.</summary>
public static class FrameReplies
{
    private const int HeaderSize = 12;
    private const int LengthFieldSize = 4;
    private const int FlagsOffset = 6;
    private const int VersionOffset = 7;
    private const byte CurrentVersion = 1;
    private const byte ReplyFlag = 1;
    private const uint LargestLength = 1024 * 1024;

    /// <summary>Marks the whole frames.</summary>
    /// <returns>Their bytes; what follows is the head of the next one.</returns>
    /// <exception cref="PeerException">The bytes are no frames.</exception>
    public static int Mark(Span<byte> bytes)
    {
        int marked = 0;
        while (bytes.Length - marked >= HeaderSize)
        {
            Span<byte> rest = bytes[marked..];
            uint length = BinaryPrimitives.ReadUInt32LittleEndian(rest);
            if (length is < HeaderSize - LengthFieldSize or > LargestLength || rest[VersionOffset] != CurrentVersion)
            {
                throw new PeerException($"A frame begins {Convert.ToHexString(rest[..HeaderSize])}.");
            }

            int frameSize = (int)length + LengthFieldSize;
            if (rest.Length < frameSize)
            {
                break;
            }

            rest[FlagsOffset] |= ReplyFlag;
            marked += frameSize;
        }

        return marked;
    }
}
