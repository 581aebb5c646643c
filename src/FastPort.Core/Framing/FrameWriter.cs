using System.Runtime.CompilerServices;
using FastPort.Connections;

namespace FastPort.Framing;

/// <summary>Encodes frames in place at the end of a ring. The caller owns the ring for the duration of the call.</summary>
internal static class FrameWriter
{
    /// <summary>Whether a body of this size is within the limit.</summary>
    public static bool Fits(int bodySize, int limit) => (uint)bodySize <= (uint)FrameLimits.MaxBodyBytes(limit);

    /// <summary>As <see cref="Fits(int, int)"/>, for a body that may begin with blocks of a request, which do not count.</summary>
    public static bool Fits(int bodySize, int limit, FrameFlags flags) => Fits(
        bodySize - ((flags & FrameFlags.Trace) != 0 ? TraceBlock.Size : 0) - ((flags & FrameFlags.Deadline) != 0 ? DeadlineBlock.Size : 0),
        limit);

    /// <summary>Appends one frame. If the body throws, the ring is unchanged.</summary>
    /// <param name="output">Ring to append to.</param>
    /// <param name="type">Message type.</param>
    /// <param name="flags">
    /// Flags; with both <see cref="FrameFlags.Reply"/> and <see cref="FrameFlags.Timing"/> the frame has a timing block.
    /// With <see cref="FrameFlags.Trace"/> the body is a <see cref="TracedBody{TBody}"/>, and with <see cref="FrameFlags.Deadline"/> a
    /// <see cref="DeadlineBody{TBody}"/>, possibly within that.
    /// </param>
    /// <param name="correlation">Correlation.</param>
    /// <param name="received">When the request was in memory, in nanoseconds; used only for a timing block.</param>
    /// <param name="body">The body.</param>
    /// <param name="bodySize">The body's size in bytes; the caller reads it once.</param>
    /// <returns>False if the frame does not fit the ring; nothing was written.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryWrite<TBody>(
        ArrayPoolCircularBuffer output, ushort type, FrameFlags flags, uint correlation, long received, scoped ref TBody body, int bodySize)
        where TBody : IFrameBody, allows ref struct
    {
        bool timed = (flags & (FrameFlags.Reply | FrameFlags.Timing)) == (FrameFlags.Reply | FrameFlags.Timing);
        int head = timed ? FrameHeader.Size + FrameTiming.Size : FrameHeader.Size;
        int total = head + bodySize;
        if (!output.TryGetWritableSpan(total, out Span<byte> span))
        {
            return false;
        }

        new FrameHeader((uint)(total - FrameHeader.LengthFieldSize), type, flags, FrameHeader.CurrentVersion, correlation).Write(span);
        if (bodySize != 0)
        {
            body.Write(span[head..]);
        }

        if (timed)
        {
            // Written last, so that encoding the body counts as server time.
            new FrameTiming((ulong)received, (ulong)MonotonicClock.Nanoseconds).Write(span[FrameHeader.Size..]);
        }

        output.Advance(total);
        return true;
    }

    /// <summary>As <see cref="TryWrite"/>, for a ring with enough room.</summary>
    /// <inheritdoc cref="TryWrite"/>
    public static void Write<TBody>(
        ArrayPoolCircularBuffer output, ushort type, FrameFlags flags, uint correlation, long received, scoped ref TBody body, int bodySize)
        where TBody : IFrameBody, allows ref struct
    {
        if (!TryWrite(output, type, flags, correlation, received, ref body, bodySize))
        {
            throw new RingCapacityExceededException(bodySize, output.Length, output.MaximumCapacity);
        }
    }

    /// <summary>Appends the header and timing block of a frame; the caller appends the body.</summary>
    /// <inheritdoc cref="Write"/>
    public static void WriteHead(
        ArrayPoolCircularBuffer output, ushort type, FrameFlags flags, uint correlation, long received, int bodySize)
    {
        bool timed = (flags & (FrameFlags.Reply | FrameFlags.Timing)) == (FrameFlags.Reply | FrameFlags.Timing);
        int head = timed ? FrameHeader.Size + FrameTiming.Size : FrameHeader.Size;
        Span<byte> span = output.GetWritableSpan(head)[..head];
        new FrameHeader((uint)(head + bodySize - FrameHeader.LengthFieldSize), type, flags, FrameHeader.CurrentVersion, correlation)
            .Write(span);
        if (timed)
        {
            new FrameTiming((ulong)received, (ulong)MonotonicClock.Nanoseconds).Write(span[FrameHeader.Size..]);
        }

        output.Advance(head);
    }
}
