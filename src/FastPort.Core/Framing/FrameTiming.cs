using System.Buffers.Binary;

namespace FastPort.Framing;

/// <summary>The timing block of a reply: two readings of the answering side's monotonic clock, in nanoseconds.</summary>
/// <param name="Received">When the last byte of the request was in memory.</param>
/// <param name="Sent">When the reply's body was encoded, just before the frame was passed to the transport.</param>
public readonly record struct FrameTiming(ulong Received, ulong Sent)
{
    /// <summary>Bytes of the block on the wire.</summary>
    public const int Size = 16;

    /// <summary>
    /// Time that the answering side took, in nanoseconds; 0 if the block has a reply sent before its request was received.
    /// </summary>
    public long ServerNanoseconds => Sent > Received ? (long)Math.Min(Sent - Received, long.MaxValue) : 0;

    internal static FrameTiming Read(ReadOnlySpan<byte> source) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(source), BinaryPrimitives.ReadUInt64LittleEndian(source[8..]));

    internal void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(destination, Received);
        BinaryPrimitives.WriteUInt64LittleEndian(destination[8..], Sent);
    }
}
