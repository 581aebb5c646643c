using FastPort.Buffers;

namespace FastPort.Transports;

/// <summary>
/// Memory lent by writers, in the order in which it is sent: each segment is sent once the ring beside it has been sent up to the segment's
/// position. Owned by the owner of that ring; not thread-safe.
/// </summary>
internal sealed class BorrowedSegments
{
    private readonly Queue<Segment> _segments = new();

    // Bytes sent of the first segment.
    private int _sent;

    /// <summary>Bytes not yet sent.</summary>
    public long Bytes { get; private set; }

    public bool IsEmpty => _segments.Count == 0;

    public int Count => _segments.Count;

    /// <param name="position">Absolute position in the ring, not below that of the segment before.</param>
    /// <param name="memory">The bytes.</param>
    /// <param name="release">Called once, with the state, when the bytes are no longer needed.</param>
    /// <param name="state">For the callback.</param>
    public void Add(long position, ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        _segments.Enqueue(new Segment(position, memory, release, state));
        Bytes += memory.Length;
    }

    /// <summary>Whether the first segment is to be sent before the ring's bytes.</summary>
    /// <param name="ringPosition">Absolute position of the ring's first unsent byte.</param>
    public bool IsNext(long ringPosition) => _segments.TryPeek(out Segment first) && first.Position <= ringPosition;

    /// <summary>As <see cref="IsNext"/>, for an empty segment.</summary>
    public bool IsEmptyNext(long ringPosition) =>
        _segments.TryPeek(out Segment first) && first.Position <= ringPosition && first.Memory.IsEmpty;

    /// <summary>The next bytes to send: the rest of the first segment, or the ring's bytes before it.</summary>
    /// <param name="ringPosition">Absolute position of the ring's first unsent byte.</param>
    /// <param name="ring">The ring's unsent bytes, up to the wrap.</param>
    public ReadOnlyMemory<byte> Next(long ringPosition, ReadOnlyMemory<byte> ring)
    {
        if (!_segments.TryPeek(out Segment first))
        {
            return ring;
        }

        long before = first.Position - ringPosition;
        return before <= 0 ? first.Memory[_sent..] : before < ring.Length ? ring[..(int)before] : ring;
    }

    /// <summary>Takes bytes of the first segment as sent. If they are its last, the caller has to release the segment.</summary>
    /// <param name="count">Bytes, 0 to the rest of the segment.</param>
    /// <param name="ended">The segment that is no longer needed.</param>
    public bool Sent(int count, out Segment ended)
    {
        Bytes -= count;
        _sent += count;
        ended = _segments.Peek();
        if (_sent < ended.Memory.Length)
        {
            return false;
        }

        _sent = 0;
        _segments.Dequeue();
        return true;
    }

    /// <summary>Removes the first segment, of which nothing was sent, for another queue.</summary>
    public Segment TakeUnsent()
    {
        Segment first = _segments.Dequeue();
        Bytes -= first.Memory.Length;
        return first;
    }

    /// <summary>Removes the first segment, sent or not. The caller has to release it.</summary>
    public bool TryDrop(out Segment dropped)
    {
        if (!_segments.TryDequeue(out dropped))
        {
            return false;
        }

        Bytes -= dropped.Memory.Length - _sent;
        _sent = 0;
        return true;
    }

    /// <summary>The next bytes to send: segments, and the pieces of the ring before each.</summary>
    /// <param name="ring">The ring beside them.</param>
    /// <param name="pieces">Receives the pieces.</param>
    /// <returns>The number of pieces: up to the size of the array, the ring's wrap, or the last segment.</returns>
    public int Gather(ArrayPoolCircularBuffer ring, Span<ReadOnlyMemory<byte>> pieces)
    {
        int count = 0;
        int sent = _sent;
        int taken = 0;
        ReadOnlyMemory<byte> unsent = ring.FirstReadableMemory;
        foreach (Segment segment in _segments)
        {
            int before = (int)Math.Max(segment.Position - ring.ReadPosition - taken, 0);
            if (before > unsent.Length || count + 2 > pieces.Length)
            {
                return count;
            }

            if (before != 0)
            {
                pieces[count++] = unsent[..before];
                unsent = unsent[before..];
                taken += before;
            }

            pieces[count++] = segment.Memory[sent..];
            sent = 0;
        }

        return count;
    }

    internal readonly record struct Segment(long Position, ReadOnlyMemory<byte> Memory, Action<object?>? Release, object? State);
}
