using System.Buffers.Binary;
using FastPort.Connections;

namespace FastPort.Framing;

/// <summary>
/// The deadline block of a request, behind the trace block if there is one: the milliseconds that were left of the call's time limit when
/// the request was sent (u32).
/// </summary>
internal static class DeadlineBlock
{
    /// <summary>Bytes of the block on the wire.</summary>
    public const int Size = 4;

    /// <summary>The time left as the block has it: rounded up, so that a short rest is not zero.</summary>
    /// <param name="left">Above zero.</param>
    public static uint Of(TimeSpan left) => (uint)Math.Min(Math.Ceiling(left.TotalMilliseconds), uint.MaxValue);

    /// <summary>The deadline on the monotonic clock, in nanoseconds.</summary>
    /// <inheritdoc cref="TimeLeft"/>
    public static long EndOf(long received, uint milliseconds) => received + (milliseconds * 1_000_000L);

    /// <summary>The time left now, at least zero.</summary>
    /// <param name="received">When the request was received, in nanoseconds of the monotonic clock.</param>
    /// <param name="milliseconds">The block.</param>
    public static TimeSpan TimeLeft(long received, uint milliseconds)
    {
        long left = EndOf(received, milliseconds) - MonotonicClock.Nanoseconds;
        return left <= 0 ? TimeSpan.Zero : TimeSpan.FromTicks(Math.Max(1, left / TimeSpan.NanosecondsPerTick));
    }

    /// <summary>Reads the block of the frame at the head of a ring, where it may wrap; 0 if it has none.</summary>
    /// <param name="header">The frame's header.</param>
    /// <param name="frame">The ring.</param>
    public static uint Read(in FrameHeader header, ArrayPoolCircularBuffer frame)
    {
        if (header.DeadlineSize == 0)
        {
            return 0;
        }

        Span<byte> block = stackalloc byte[Size];
        frame.CopyTo(FrameHeader.Size + header.TraceSize, block);
        return BinaryPrimitives.ReadUInt32LittleEndian(block);
    }
}

/// <summary>A body with a deadline block in front of it, as <see cref="TracedBody{TBody}"/>.</summary>
internal readonly ref struct DeadlineBody<TBody>(uint milliseconds, scoped in TBody body) : IFrameBody
    where TBody : IFrameBody, allows ref struct
{
    private readonly TBody _body = body;

    public int Size { get; } = DeadlineBlock.Size + body.Size;

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(destination, milliseconds);
        if (destination.Length > DeadlineBlock.Size)
        {
            _body.Write(destination[DeadlineBlock.Size..]);
        }
    }
}
