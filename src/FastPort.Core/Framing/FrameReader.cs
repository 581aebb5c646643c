using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using FastPort.Connections;

namespace FastPort.Framing;

/// <summary>What <see cref="FrameReader.TryRead"/> found at the head of the unread bytes.</summary>
internal enum FrameReadStatus
{
    /// <summary>A whole frame is available.</summary>
    Complete,

    /// <summary>More bytes are needed. The size of the frame is known when its length field has arrived.</summary>
    Incomplete,

    /// <summary>The bytes violate the format: <see cref="ErrorCode.MalformedFrame"/>.</summary>
    Malformed,

    /// <summary>The length is above the limit: <see cref="ErrorCode.FrameTooLarge"/>. Decided on the first 4 bytes.</summary>
    TooLarge,
}

/// <summary>
/// Decodes frames in place: reads the unread bytes in the ring, as at most two spans, without copies or allocations. Stateless; safe for
/// concurrent use on different buffers.
/// </summary>
internal static class FrameReader
{
    /// <summary>Examines the frame at the head of the unread bytes; consumes nothing.</summary>
    /// <param name="first">Unread bytes up to the wrap of their ring.</param>
    /// <param name="second">Unread bytes after the wrap; empty if they do not wrap.</param>
    /// <param name="limit">Frame limit in bytes: the largest allowed length without blocks.</param>
    /// <param name="expected">
    /// The blocks that may come, and whether More may. Only by the bytes of such a block may a length exceed <paramref name="limit"/>;
    /// otherwise 4 bytes are enough to refuse an oversized frame.
    /// </param>
    /// <param name="header">The header: complete if 12 bytes are available, otherwise only its length.</param>
    public static FrameReadStatus TryRead(
        ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, int limit, FrameBlocks expected, out FrameHeader header)
    {
        if (first.Length >= FrameHeader.Size)
        {
            header = FrameHeader.Read(first);
            return Judge(header, first.Length + (long)second.Length, limit, expected);
        }

        return TryReadSplit(first, second, limit, expected, out header);
    }

    /// <summary>As <see cref="TryRead"/>, for the unread bytes of a ring.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static FrameReadStatus TryReadHead(ArrayPoolCircularBuffer unread, int limit, FrameBlocks expected, out FrameHeader header)
    {
        ReadOnlySpan<byte> first = unread.FirstReadableSpan;
        if (first.Length >= FrameHeader.Size)
        {
            header = FrameHeader.Read(first);
            return header.IsPlain && header.Length <= (uint)limit && header.Length >= FrameHeader.MinimumLength
                ? unread.Length < header.FrameSize ? FrameReadStatus.Incomplete : FrameReadStatus.Complete
                : Judge(header, unread.Length, limit, expected);
        }

        return TryReadSplit(unread, limit, expected, out header);
    }

    /// <summary>Copies a timing block, which may wrap.</summary>
    internal static FrameTiming ReadTiming(ArrayPoolCircularBuffer buffer)
    {
        Span<byte> block = stackalloc byte[FrameTiming.Size];
        buffer.CopyTo(FrameHeader.Size, block);
        return FrameTiming.Read(block);
    }

    // A separate method: the caller's span stays in registers, as its address is not taken.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FrameReadStatus TryReadSplit(
        ArrayPoolCircularBuffer unread, int limit, FrameBlocks expected, out FrameHeader header)
    {
        unread.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        return TryReadSplit(first, second, limit, expected, out header);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FrameReadStatus TryReadSplit(
        ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, int limit, FrameBlocks expected, out FrameHeader header)
    {
        Span<byte> bytes = stackalloc byte[FrameHeader.Size];
        first.CopyTo(bytes);
        int available = first.Length + second.Length;
        second[..Math.Min(second.Length, FrameHeader.Size - first.Length)].CopyTo(bytes[first.Length..]);
        if (available >= FrameHeader.Size)
        {
            header = FrameHeader.Read(bytes);
            return Judge(header, available, limit, expected);
        }

        header = default;
        if (available < FrameHeader.LengthFieldSize)
        {
            return FrameReadStatus.Incomplete;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
        header = new FrameHeader(length, 0, FrameFlags.None, FrameHeader.CurrentVersion, 0);
        if (length < FrameHeader.MinimumLength)
        {
            return FrameReadStatus.Malformed;
        }

        // The flags have not come yet. A reply may have a timing block, a request the other two.
        uint largest = Math.Max(
            (expected & FrameBlocks.Timing) != 0 ? FrameTiming.Size : 0u,
            ((expected & FrameBlocks.Trace) != 0 ? TraceBlock.Size : 0u)
                + ((expected & FrameBlocks.Deadline) != 0 ? DeadlineBlock.Size : 0u));
        return length > (uint)limit + largest ? FrameReadStatus.TooLarge : FrameReadStatus.Incomplete;
    }

    private static FrameReadStatus Judge(in FrameHeader header, long available, int limit, FrameBlocks expected)
    {
        bool traces = (expected & FrameBlocks.Trace) != 0;
        bool deadlines = (expected & FrameBlocks.Deadline) != 0;
        uint allowance = (traces ? (uint)header.TraceSize : 0u)
            + (deadlines ? (uint)header.DeadlineSize : 0u)
            + ((expected & FrameBlocks.Timing) != 0 ? (uint)header.TimingSize : 0u);
        if (header.Length < FrameHeader.MinimumLength + (uint)header.BlockSize)
        {
            return FrameReadStatus.Malformed;
        }

        if (header.Length > (uint)limit + allowance)
        {
            return FrameReadStatus.TooLarge;
        }

        if (header.Version != FrameHeader.CurrentVersion
            || (header.Flags & ~FrameFlags.Known) != 0
            || (header.Flags & (FrameFlags.Error | FrameFlags.Reply)) == FrameFlags.Error
            || ((header.Flags & FrameFlags.Trace) != 0 && (!traces || header.IsReply))
            || ((header.Flags & FrameFlags.Deadline) != 0 && (!deadlines || header.IsReply || header.IsOneWay))
            || ((header.Flags & FrameFlags.More) != 0
                && ((expected & FrameBlocks.More) == 0 || (header.Flags & (FrameFlags.OneWay | FrameFlags.Error)) != 0))
            || (header.Correlation == 0 && (header.Flags & (FrameFlags.Reply | FrameFlags.OneWay)) == 0))
        {
            return FrameReadStatus.Malformed;
        }

        return available < header.FrameSize ? FrameReadStatus.Incomplete : FrameReadStatus.Complete;
    }
}
