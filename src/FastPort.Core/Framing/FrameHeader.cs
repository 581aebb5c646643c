using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace FastPort.Framing;

/// <summary>The fixed first 12 bytes of every frame, all integers little-endian (docs/protocol.md).</summary>
/// <param name="Length">Bytes that follow the length field: 8, the timing block if any, and the body.</param>
/// <param name="Type">Message type.</param>
/// <param name="Flags">Flag bits.</param>
/// <param name="Version">Protocol version; 1.</param>
/// <param name="Correlation">Number chosen by the requester and copied into the reply; 0 on one-way frames.</param>
public readonly record struct FrameHeader(uint Length, ushort Type, FrameFlags Flags, byte Version, uint Correlation)
{
    /// <summary>Bytes of a header on the wire.</summary>
    public const int Size = 12;

    /// <summary>Bytes of the length field, which its own value does not count.</summary>
    public const int LengthFieldSize = 4;

    /// <summary>The part of the header that <see cref="Length"/> counts; no valid frame has a smaller length.</summary>
    public const int MinimumLength = Size - LengthFieldSize;

    /// <summary>The version this library speaks.</summary>
    public const byte CurrentVersion = 1;

    /// <summary>Bytes of the whole frame.</summary>
    public long FrameSize => LengthFieldSize + (long)Length;

    /// <summary>Whether the frame is a reply.</summary>
    public bool IsReply => (Flags & FrameFlags.Reply) != 0;

    /// <summary>Whether the frame wants no reply.</summary>
    public bool IsOneWay => (Flags & FrameFlags.OneWay) != 0;

    /// <summary>Bytes of the timing block: 16 on a reply with <see cref="FrameFlags.Timing"/>, else 0.</summary>
    public int TimingSize => (Flags & (FrameFlags.Reply | FrameFlags.Timing)) == (FrameFlags.Reply | FrameFlags.Timing) ? FrameTiming.Size : 0;

    /// <summary>Bytes of the body.</summary>
    public int BodySize => (int)Length - MinimumLength - TimingSize;

    /// <summary>Reads a header.</summary>
    /// <param name="source">At least 12 bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static FrameHeader Read(ReadOnlySpan<byte> source)
    {
        ulong first = BinaryPrimitives.ReadUInt64LittleEndian(source);
        return new FrameHeader(
            (uint)first,
            (ushort)(first >> 32),
            (FrameFlags)(byte)(first >> 48),
            (byte)(first >> 56),
            BinaryPrimitives.ReadUInt32LittleEndian(source[8..]));
    }

    /// <summary>Writes the header.</summary>
    /// <param name="destination">At least 12 bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(destination, Length | ((ulong)Type << 32) | ((ulong)(byte)Flags << 48) | ((ulong)Version << 56));
        BinaryPrimitives.WriteUInt32LittleEndian(destination[8..], Correlation);
    }
}
