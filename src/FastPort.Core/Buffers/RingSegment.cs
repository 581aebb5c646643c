using System.Buffers;

namespace FastPort.Buffers;

/// <summary>One of the two segments a ring lends to the sequence over a range that wraps; set anew for each such sequence.</summary>
internal sealed class RingSegment : ReadOnlySequenceSegment<byte>
{
    /// <summary>Points the segment at its part of the range.</summary>
    /// <param name="memory">The bytes of this part.</param>
    /// <param name="runningIndex">Bytes of the range before this part.</param>
    /// <param name="next">The part behind the wrap; null for the last one.</param>
    public void Set(ReadOnlyMemory<byte> memory, long runningIndex, RingSegment? next)
    {
        Memory = memory;
        RunningIndex = runningIndex;
        Next = next;
    }

    /// <summary>Lets go of the array, so that a ring without one keeps none alive.</summary>
    public void Clear() => Set(default, 0, next: null);
}
