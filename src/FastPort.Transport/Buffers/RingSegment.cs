using System.Buffers;

namespace FastPort.Buffers;

/// <summary>
/// One of the two segments of a sequence over a range that wraps. The ring owns it and sets it again for each such sequence.
/// </summary>
internal sealed class RingSegment : ReadOnlySequenceSegment<byte>
{
    /// <summary>Points the segment at its part of the range.</summary>
    /// <param name="memory">The bytes of this part.</param>
    /// <param name="runningIndex">Bytes of the range before this part.</param>
    /// <param name="next">The part after the wrap; null for the last part.</param>
    public void Set(ReadOnlyMemory<byte> memory, long runningIndex, RingSegment? next)
    {
        Memory = memory;
        RunningIndex = runningIndex;
        Next = next;
    }

    /// <summary>Releases the reference to the array, so that a ring without an array keeps none alive.</summary>
    public void Clear() => Set(default, 0, next: null);
}
