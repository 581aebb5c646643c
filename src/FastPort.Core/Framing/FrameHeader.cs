using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace FastPort.Framing;

/// <summary>The fixed first 12 bytes of every frame, all integers little-endian (docs/protocol.md).</summary>
public readonly record struct FrameHeader
{
    // The first 8 bytes as on the wire. One field, not four: a header is copied right after it was read, and a copy of eight bytes that
    // were just written as four pieces stalls on store forwarding (docs/decisions/0012).
    private readonly ulong _first;

    // A plain frame has this version and no flags except OneWay and Timing.
    private const ulong PlainBits = (ulong)CurrentVersion << 56;
    private const ulong PlainMask = (0xFFUL << 56) | ((ulong)(byte)~(FrameFlags.OneWay | FrameFlags.Timing) << 48);

    // A frame without these has no block between header and body.
    private const ulong BlockMask = (ulong)(byte)(FrameFlags.Reply | FrameFlags.Trace | FrameFlags.Deadline) << 48;

    /// <summary>Creates a header.</summary>
    /// <param name="length">Bytes after the length field: 8, the blocks if any, and the body.</param>
    /// <param name="type">Message type.</param>
    /// <param name="flags">Flag bits.</param>
    /// <param name="version">Protocol version; 1.</param>
    /// <param name="correlation">Number that the requester chose and the reply repeats; 0 on one-way frames.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public FrameHeader(uint length, ushort type, FrameFlags flags, byte version, uint correlation)
        : this(length | ((ulong)type << 32) | ((ulong)(byte)flags << 48) | ((ulong)version << 56), correlation)
    {
    }

    private FrameHeader(ulong first, uint correlation)
    {
        _first = first;
        Correlation = correlation;
    }

    /// <summary>Bytes after the length field: 8, the blocks if any, and the body.</summary>
    public uint Length => (uint)_first;

    /// <summary>Message type.</summary>
    public ushort Type => (ushort)(_first >> 32);

    /// <summary>Flag bits.</summary>
    public FrameFlags Flags => (FrameFlags)(byte)(_first >> 48);

    /// <summary>Protocol version; 1.</summary>
    public byte Version => (byte)(_first >> 56);

    /// <summary>Number that the requester chose and the reply repeats; 0 on one-way frames.</summary>
    public uint Correlation { get; }

    /// <summary>Bytes of a header on the wire.</summary>
    public const int Size = 12;

    /// <summary>Bytes of the length field, which <see cref="Length"/> does not count.</summary>
    public const int LengthFieldSize = 4;

    /// <summary>The part of the header that <see cref="Length"/> counts; no valid frame has a smaller length.</summary>
    public const int MinimumLength = Size - LengthFieldSize;

    /// <summary>The protocol version of this library.</summary>
    public const byte CurrentVersion = 1;

    /// <summary>Bytes of the whole frame.</summary>
    public long FrameSize => LengthFieldSize + (long)Length;

    /// <summary>Whether the frame is a reply.</summary>
    public bool IsReply => (Flags & FrameFlags.Reply) != 0;

    /// <summary>Whether the frame gets no reply.</summary>
    public bool IsOneWay => (Flags & FrameFlags.OneWay) != 0;

    /// <summary>
    /// Whether version, flags and correlation are those of a valid request or one-way message. One comparison decides for most frames.
    /// </summary>
    internal bool IsPlain => (_first & PlainMask) == PlainBits && (Correlation != 0 || IsOneWay);

    /// <summary>Bytes of the timing block: 16 on a reply with <see cref="FrameFlags.Timing"/>, else 0.</summary>
    public int TimingSize => (Flags & (FrameFlags.Reply | FrameFlags.Timing)) == (FrameFlags.Reply | FrameFlags.Timing)
        ? FrameTiming.Size
        : 0;

    /// <summary>Bytes of the trace block: 25 on a request or one-way frame with <see cref="FrameFlags.Trace"/>, else 0.</summary>
    public int TraceSize => (Flags & (FrameFlags.Reply | FrameFlags.Trace)) == FrameFlags.Trace ? TraceBlock.Size : 0;

    /// <summary>Bytes of the deadline block: 4 on a request with <see cref="FrameFlags.Deadline"/>, else 0.</summary>
    public int DeadlineSize => (Flags & (FrameFlags.Reply | FrameFlags.Deadline)) == FrameFlags.Deadline ? DeadlineBlock.Size : 0;

    /// <summary>Bytes between header and body.</summary>
    internal int BlockSize => (_first & BlockMask) == 0 ? 0 : TimingSize + TraceSize + DeadlineSize;

    /// <summary>Where the body begins in the frame.</summary>
    internal int BodyOffset => Size + BlockSize;

    /// <summary>Bytes of the body.</summary>
    public int BodySize => (int)Length - MinimumLength - BlockSize;

    /// <summary>Reads a header.</summary>
    /// <param name="source">At least 12 bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static FrameHeader Read(ReadOnlySpan<byte> source) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(source), BinaryPrimitives.ReadUInt32LittleEndian(source[8..]));

    /// <summary>Writes the header.</summary>
    /// <param name="destination">At least 12 bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(destination, _first);
        BinaryPrimitives.WriteUInt32LittleEndian(destination[8..], Correlation);
    }
}
