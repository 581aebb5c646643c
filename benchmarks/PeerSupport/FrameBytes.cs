using System.Buffers.Binary;

namespace PeerSupport;

/// <summary>The header of FastPort's frames, as far as an echo needs it (docs/protocol.md).</summary>
public static class FrameBytes
{
    /// <summary>Bytes of a header.</summary>
    public const int HeaderSize = 12;

    /// <summary>Bytes of the length, which does not count itself.</summary>
    public const int LengthFieldSize = 4;

    /// <summary>Where the flags are.</summary>
    public const int FlagsOffset = 6;

    /// <summary>The flag of a reply.</summary>
    public const byte ReplyFlag = 1;

    private const int VersionOffset = 7;
    private const byte CurrentVersion = 1;
    private const uint LargestLength = 1024 * 1024;

    /// <summary>Reads how long a frame is. False if the bytes are no header of this protocol.</summary>
    /// <param name="header">At least the header.</param>
    /// <param name="frameSize">Bytes of the frame with its header.</param>
    public static bool TryReadFrameSize(ReadOnlySpan<byte> header, out int frameSize)
    {
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(header);
        frameSize = (int)Math.Min(length, LargestLength) + LengthFieldSize;
        return length is >= HeaderSize - LengthFieldSize and <= LargestLength && header[VersionOffset] == CurrentVersion;
    }
}
