namespace FastPort.Transports;

/// <summary>
/// Memory lent by writers, in the order in which it is to be sent: each segment goes out when the ring beside it has been sent up to the
/// segment's position. Owned by whoever owns that ring; not thread-safe.
/// </summary>
internal sealed class BorrowedSegments
{
    private readonly Queue<Segment> _segments = new();

    // What has been sent of the first segment.
    private int _sent;

    /// <summary>Bytes not yet sent.</summary>
    public long Bytes { get; private set; }

    public bool IsEmpty => _segments.Count == 0;

    public int Count => _segments.Count;

    /// <param name="position">Absolute position in the ring, not below that of the segment before.</param>
    /// <param name="memory">The bytes.</param>
    /// <param name="release">Called once with the state when the bytes are needed no more.</param>
    /// <param name="state">For the callback.</param>
    public void Add(long position, ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        _segments.Enqueue(new Segment(position, memory, release, state));
        Bytes += memory.Length;
    }

    /// <summary>Whether the first segment is what goes out next, before what is in the ring.</summary>
    /// <param name="ringPosition">Absolute position of the ring's first unsent byte.</param>
    public bool IsNext(long ringPosition) => _segments.TryPeek(out Segment first) && first.Position <= ringPosition;

    /// <summary>What goes out next: the rest of the first segment, or what the ring has before it.</summary>
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

    /// <summary>Takes bytes of the first segment as sent. Where they are its last, the caller owes it its release.</summary>
    /// <param name="count">Bytes, 0 to what is left of the segment.</param>
    /// <param name="ended">The segment that is needed no more.</param>
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

    /// <summary>Takes the first segment out, sent or not. The caller owes it its release.</summary>
    public bool TryDrop(out Segment dropped)
    {
        _sent = 0;
        return _segments.TryDequeue(out dropped);
    }

    internal readonly record struct Segment(long Position, ReadOnlyMemory<byte> Memory, Action<object?>? Release, object? State);
}
