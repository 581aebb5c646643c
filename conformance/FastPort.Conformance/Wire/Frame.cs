using System.Buffers.Binary;

namespace FastPort.Conformance.Wire;

/// <summary>
/// A frame as it lies on the wire (docs/protocol.md, "Frame"). Independent of the library, so that a case can send malformed frames.
/// </summary>
internal sealed record Frame(ushort Type, byte Flags, uint Correlation, byte[] Body)
{
    public const byte Reply = 0x01;
    public const byte Error = 0x02;
    public const byte OneWay = 0x04;
    public const byte Timing = 0x08;
    public const byte Trace = 0x10;
    public const byte More = 0x20;
    public const byte Unknown = 0x40;
    public const byte Deadline = 0x80;

    /// <summary>The bits that say what a frame is; the others say what else is in it.</summary>
    public const byte KindMask = Reply | Error | OneWay | More;

    private const int HeaderSize = 12;
    private const int LengthSize = 4;
    private const int TimingSize = 16;
    private const int TraceSize = 25;
    private const int DeadlineSize = 4;

    public byte Version { get; init; } = 1;

    /// <summary>Bytes of the body and of what is before it, without blocks.</summary>
    public int LengthWithoutBlocks => HeaderSize - LengthSize + Body.Length;

    /// <summary>Whether the frame has a timing block.</summary>
    public bool HasTimingBlock => HasTiming(Flags);

    public (ulong Received, ulong Sent) TimingBlock { get; init; }

    public byte[] TraceBlock { get; init; } = [];

    public uint DeadlineBlock { get; init; }

    /// <summary>The bytes of the frame, with blocks as its flags say.</summary>
    public byte[] ToBytes()
    {
        int blocks = (HasTimingBlock ? TimingSize : 0) + TraceBlock.Length + ((Flags & Deadline) != 0 ? DeadlineSize : 0);
        byte[] bytes = new byte[HeaderSize + blocks + Body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, bytes.Length - LengthSize);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(4), Type);
        bytes[6] = Flags;
        bytes[7] = Version;
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), Correlation);
        int at = HeaderSize;
        if (HasTimingBlock)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(at), TimingBlock.Received);
            BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(at + 8), TimingBlock.Sent);
            at += TimingSize;
        }

        TraceBlock.CopyTo(bytes, at);
        at += TraceBlock.Length;
        if ((Flags & Deadline) != 0)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(at), DeadlineBlock);
            at += DeadlineSize;
        }

        Body.CopyTo(bytes, at);
        return bytes;
    }

    /// <summary>Takes the first whole frame from the bytes; null if there is none yet.</summary>
    /// <exception cref="CaseFailureException">The bytes are no frame.</exception>
    public static Frame? TryTake(ref ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < LengthSize)
        {
            return null;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
        if (length is < HeaderSize - LengthSize or > int.MaxValue)
        {
            throw new CaseFailureException($"The client sent a frame with the length {length}.");
        }

        if (bytes.Length - LengthSize < length)
        {
            return null;
        }

        ReadOnlySpan<byte> frame = bytes[..(LengthSize + (int)length)];
        bytes = bytes[frame.Length..];
        return Read(frame);
    }

    public override string ToString() =>
        $"type 0x{Type:X4}, flags 0x{Flags:X2}, correlation {Correlation}, body of {Body.Length} bytes {Bytes.Show(Body)}";

    private static bool HasTiming(byte flags) => (flags & (Reply | Timing)) == (Reply | Timing);

    private static Frame Read(ReadOnlySpan<byte> bytes)
    {
        byte flags = bytes[6];
        int at = HeaderSize;
        int blocks = (HasTiming(flags) ? TimingSize : 0) + ((flags & Trace) != 0 ? TraceSize : 0)
            + ((flags & Deadline) != 0 ? DeadlineSize : 0);
        if (bytes.Length < at + blocks)
        {
            throw new CaseFailureException($"The client sent a frame with the flags 0x{flags:X2} that is too short for its blocks.");
        }

        (ulong, ulong) timing = default;
        if (HasTiming(flags))
        {
            timing = (BinaryPrimitives.ReadUInt64LittleEndian(bytes[at..]), BinaryPrimitives.ReadUInt64LittleEndian(bytes[(at + 8)..]));
            at += TimingSize;
        }

        int traceSize = (flags & Trace) != 0 ? TraceSize : 0;
        byte[] trace = bytes.Slice(at, traceSize).ToArray();
        at += traceSize;
        uint deadline = 0;
        if ((flags & Deadline) != 0)
        {
            deadline = BinaryPrimitives.ReadUInt32LittleEndian(bytes[at..]);
            at += DeadlineSize;
        }

        return new Frame(
            BinaryPrimitives.ReadUInt16LittleEndian(bytes[4..]),
            flags,
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
            bytes[at..].ToArray())
        {
            Version = bytes[7],
            TimingBlock = timing,
            TraceBlock = trace,
            DeadlineBlock = deadline,
        };
    }
}
