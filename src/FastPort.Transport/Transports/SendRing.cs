using System.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// Bytes to be sent: a ring, and memory borrowed from writers. A borrowed segment is sent once the ring has been sent up to the segment's
/// position. Not thread-safe; <see cref="SendQueue"/> documents which thread owns which ring when.
/// </summary>
internal sealed class SendRing(int maximumBytes, ArrayPool<byte> pool, int minimumBytes = SendRing.MinimumCapacity)
{
    private const int MinimumCapacity = 4096;

    // In the order in which they are sent; allocated at the first loan.
    private Queue<Segment>? _segments;

    // Bytes of all segments that are not yet sent, and bytes of the first one that are.
    private long _borrowedBytes;
    private int _sentOfFirst;

    public ArrayPoolCircularBuffer Ring { get; private set; } = new(minimumBytes, maximumBytes, pool);

    public bool IsEmpty => Ring.IsEmpty && BorrowedCount == 0;

    /// <summary>Bytes not yet sent.</summary>
    public long Bytes => Ring.Length + _borrowedBytes;

    /// <summary>Segments outside the ring.</summary>
    public int BorrowedCount => _segments?.Count ?? 0;

    /// <summary>Bytes ever sent.</summary>
    public long Sent { get; private set; }

    /// <summary>Whether its bytes are sent without a frame around them on a connection that has a <see cref="WireFormat"/>.</summary>
    public bool IsUnframed { get; init; }

    /// <summary>In a queue: how many of the event loop's bytes are sent before this ring.</summary>
    public long After { get; set; }

    /// <summary>In a queue: the ring behind it. While it is a spare: the spare below it.</summary>
    public SendRing? NextRing { get; set; }

    /// <summary>The next bytes to send, up to the ring's wrap or the next segment.</summary>
    public ReadOnlyMemory<byte> NextMemory
    {
        get
        {
            ReadOnlyMemory<byte> ring = Ring.FirstReadableMemory;
            if (BorrowedCount == 0)
            {
                return ring;
            }

            Segment first = _segments!.Peek();
            long before = first.Position - Ring.ReadPosition;
            return before <= 0 ? first.Memory[_sentOfFirst..] : before < ring.Length ? ring[..(int)before] : ring;
        }
    }

    // Whether a segment is sent before the ring's bytes.
    private bool IsSegmentNext => BorrowedCount != 0 && _segments!.Peek().Position <= Ring.ReadPosition;

    /// <summary>The next segment, and the ring's bytes before it; false if there is none. Empty if the ring wraps before it.</summary>
    public bool TryPeek(out ReadOnlyMemory<byte> ring, out ReadOnlyMemory<byte> borrowed)
    {
        ring = borrowed = default;
        if (BorrowedCount == 0)
        {
            return false;
        }

        if (!IsSegmentNext)
        {
            ring = NextMemory;
        }

        Segment first = _segments!.Peek();
        borrowed = first.Position <= Ring.ReadPosition + ring.Length ? first.Memory[_sentOfFirst..] : default;
        return true;
    }

    /// <summary>The next bytes to send, in at most two pieces; the first is empty only if there are none.</summary>
    public void Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second)
    {
        if (!TryPeek(out ReadOnlyMemory<byte> ring, out ReadOnlyMemory<byte> borrowed))
        {
            Ring.GetReadableSpans(out first, out second);
        }
        else if (ring.IsEmpty)
        {
            first = borrowed.Span;
            second = default;
        }
        else
        {
            // The bytes before a borrowed body are usually its header: both are sent with one call.
            first = ring.Span;
            second = borrowed.Span;
        }
    }

    /// <summary>
    /// The next bytes to send, in pieces: segments, and the pieces of the ring before each; up to the last segment or the ring's wrap.
    /// Returns their number, 0 if there is no segment.
    /// </summary>
    public int Gather(Span<ReadOnlyMemory<byte>> pieces)
    {
        int count = 0;
        int sent = _sentOfFirst;
        int taken = 0;
        ReadOnlyMemory<byte> unsent = Ring.FirstReadableMemory;
        foreach (Segment segment in _segments ?? [])
        {
            int before = (int)Math.Max(segment.Position - Ring.ReadPosition - taken, 0);
            if (before > unsent.Length || count + 2 > pieces.Length)
            {
                break;
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

    /// <summary>
    /// Moves all bytes, none of which was sent, to the end of another ring. False if there is no memory: then nothing was moved.
    /// </summary>
    public bool TryMoveTo(SendRing other)
    {
        try
        {
            // The other ring may have grown since room was found.
            other.Ring.LimitTo(Math.Max(other.Ring.MaximumCapacity, other.Ring.Length + Ring.Length));
            if (!other.Ring.TryMakeRoom(Ring.Length))
            {
                return false;
            }
        }
        catch (Exception)
        {
            // The pool has no array. The copy is only an optimization, so the writer must not fail.
            return false;
        }

        while (!IsEmpty)
        {
            if (IsSegmentNext)
            {
                other.Add(RemoveSegment());
            }
            else
            {
                ReadOnlyMemory<byte> piece = NextMemory;
                other.Ring.Write(piece.Span);
                Ring.Consume(piece.Length);
            }
        }

        return true;
    }

    /// <summary>Exchanges its own ring, which must be empty, for another one of the same maximum and pool.</summary>
    public ArrayPoolCircularBuffer Exchange(ArrayPoolCircularBuffer ring)
    {
        ArrayPoolCircularBuffer empty = Ring;
        Ring = ring;
        return empty;
    }

    /// <summary>Appends bytes without copying them; false if there is no room: then they still belong to the caller.</summary>
    public bool TryBorrow(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (Bytes + memory.Length > Ring.MaximumCapacity)
        {
            return false;
        }

        Add(new Segment(0, memory, release, state));
        return true;
    }

    /// <summary>
    /// Takes bytes as sent. Segments that are no longer needed, empty ones included, are passed to the releaser one by one.
    /// </summary>
    /// <param name="count">Number of bytes sent, 0 or more.</param>
    /// <param name="releaser">Receives the segments.</param>
    public void TakeSent(int count, ISegmentReleaser releaser)
    {
        Sent += count;
        if (BorrowedCount == 0)
        {
            // May wrap.
            Ring.Consume(count);
            return;
        }

        while (count > 0)
        {
            int taken = Math.Min(count, NextMemory.Length);
            count -= taken;
            if (!IsSegmentNext)
            {
                Ring.Consume(taken);
                continue;
            }

            _borrowedBytes -= taken;
            _sentOfFirst += taken;
            if (_sentOfFirst == _segments!.Peek().Memory.Length)
            {
                releaser.Release(RemoveSegment());
            }
        }

        while (IsSegmentNext && _segments!.Peek().Memory.IsEmpty)
        {
            releaser.Release(RemoveSegment());
        }
    }

    /// <summary>Drops the unsent bytes and returns the array to the pool.</summary>
    /// <param name="releaser">Receives the segments; null if they belong to the caller again.</param>
    public void Drop(ISegmentReleaser? releaser)
    {
        while (BorrowedCount != 0)
        {
            Segment dropped = RemoveSegment();
            releaser?.Release(dropped);
        }

        Ring.Consume(Ring.Length);
        Ring.TryReleaseWhenEmpty();
    }

    // At the end of the ring's bytes.
    private void Add(Segment segment)
    {
        (_segments ??= new Queue<Segment>()).Enqueue(segment with { Position = Ring.WritePosition });
        _borrowedBytes += segment.Memory.Length;
    }

    // The first, sent or not.
    private Segment RemoveSegment()
    {
        Segment first = _segments!.Dequeue();
        _borrowedBytes -= first.Memory.Length - _sentOfFirst;
        _sentOfFirst = 0;
        return first;
    }

    /// <summary>Memory that a writer has lent.</summary>
    /// <param name="Position">The absolute position in the ring that it is sent at.</param>
    /// <param name="Memory">The bytes.</param>
    /// <param name="Release">Called once, with the state, when the bytes are no longer needed.</param>
    /// <param name="State">For the callback.</param>
    internal readonly record struct Segment(long Position, ReadOnlyMemory<byte> Memory, Action<object?>? Release, object? State);
}

/// <summary>Receives each lent segment whose bytes are no longer needed.</summary>
internal interface ISegmentReleaser
{
    /// <summary>Releases the memory to the writer that lent it. Called once for each segment, under no lock.</summary>
    void Release(SendRing.Segment segment);
}
