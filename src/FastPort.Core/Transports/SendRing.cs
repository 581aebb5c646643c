using System.Buffers;
using FastPort.Buffers;

namespace FastPort.Transports;

/// <summary>
/// Bytes on their way out: a ring, and beside it the segments borrowed from writers (<see cref="BorrowedSegments"/>), made when the first
/// is lent. Not thread-safe; an output has two, and says who owns which.
/// </summary>
internal sealed class SendRing(int maximumBytes, ArrayPool<byte> pool)
{
    public const int MinimumCapacity = 4096;

    private BorrowedSegments? _borrowed;

    public ArrayPoolCircularBuffer Ring { get; private set; } = new(MinimumCapacity, maximumBytes, pool);

    public bool IsEmpty => Ring.IsEmpty && (_borrowed is null || _borrowed.IsEmpty);

    /// <summary>What goes out next, up to the ring's wrap or the next segment.</summary>
    public ReadOnlySpan<byte> NextSpan => _borrowed is null ? Ring.FirstReadableSpan : NextMemory.Span;

    /// <inheritdoc cref="NextSpan"/>
    public ReadOnlyMemory<byte> NextMemory => _borrowed is null
        ? Ring.FirstReadableMemory
        : _borrowed.Next(Ring.ReadPosition, Ring.FirstReadableMemory);

    /// <summary>Whether a segment was ever lent here.</summary>
    public bool EverBorrowed => _borrowed is not null;

    /// <summary>Segments that lie beside the ring.</summary>
    public int BorrowedCount => _borrowed?.Count ?? 0;

    /// <summary>Bytes of those.</summary>
    public long BorrowedBytes => _borrowed?.Bytes ?? 0;

    /// <summary>The next segment, and the ring's bytes that go before it; false where there is none.</summary>
    public bool TryPeek(out ReadOnlyMemory<byte> ring, out ReadOnlyMemory<byte> borrowed)
    {
        ring = borrowed = default;
        if (_borrowed is null || _borrowed.IsEmpty)
        {
            return false;
        }

        if (!_borrowed.IsNext(Ring.ReadPosition))
        {
            ring = _borrowed.Next(Ring.ReadPosition, Ring.FirstReadableMemory);
        }

        borrowed = _borrowed.Next(Ring.ReadPosition + ring.Length, default);
        return true;
    }

    /// <summary>
    /// What goes out next, piece by piece, up to the last segment or the ring's wrap. Returns their number, 0 where there is no segment.
    /// </summary>
    public int Gather(Span<ReadOnlyMemory<byte>> pieces) => _borrowed?.Gather(Ring, pieces) ?? 0;

    /// <summary>
    /// Moves all to the end of another ring, of which nothing was sent here. False where there is no memory: nothing was moved then.
    /// </summary>
    public bool TryMoveTo(SendRing other)
    {
        try
        {
            // What waits there may have grown since room was found for this.
            other.Ring.LimitTo(Math.Max(other.Ring.MaximumCapacity, other.Ring.Length + Ring.Length));
            if (!other.Ring.TryReserve(Ring.Length))
            {
                return false;
            }
        }
        catch (Exception)
        {
            // The pool has none.
            return false;
        }

        while (!IsEmpty)
        {
            if (_borrowed is not null && _borrowed.IsNext(Ring.ReadPosition))
            {
                BorrowedSegments.Segment segment = _borrowed.TakeUnsent();
                (other._borrowed ??= new BorrowedSegments()).Add(other.Ring.WritePosition, segment.Memory, segment.Release, segment.State);
            }
            else
            {
                ReadOnlySpan<byte> piece = NextSpan;
                other.Ring.Write(piece);
                Ring.Consume(piece.Length);
            }
        }

        return true;
    }

    /// <summary>Takes another ring in place of its own, which must be empty; of the same maximum and pool.</summary>
    public ArrayPoolCircularBuffer Exchange(ArrayPoolCircularBuffer ring)
    {
        ArrayPoolCircularBuffer empty = Ring;
        Ring = ring;
        return empty;
    }

    /// <summary>Appends bytes that stay where they are; false where there is no room, and then they stay the caller's.</summary>
    public bool TryBorrow(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        BorrowedSegments borrowed = _borrowed ??= new BorrowedSegments();
        if (borrowed.Bytes + Ring.Length + memory.Length > Ring.MaximumCapacity)
        {
            return false;
        }

        borrowed.Add(Ring.WritePosition, memory, release, state);
        return true;
    }

    /// <summary>Takes bytes of what goes out next as sent. True where they were a segment's last: the caller owes it its release.</summary>
    public bool Sent(int count, out BorrowedSegments.Segment ended)
    {
        if (_borrowed is not null && _borrowed.IsNext(Ring.ReadPosition))
        {
            return _borrowed.Sent(count, out ended);
        }

        Ring.Consume(count);
        ended = default;
        return false;
    }

    /// <summary>
    /// Takes out a segment without a byte that comes next; false where that is something else. The caller owes it its release.
    /// </summary>
    public bool TryTakeEmpty(out BorrowedSegments.Segment empty)
    {
        empty = default;
        return _borrowed is not null && _borrowed.IsEmptyNext(Ring.ReadPosition) && _borrowed.TryDrop(out empty);
    }

    /// <summary>Takes a segment out, sent or not. The caller owes it its release.</summary>
    public bool TryDrop(out BorrowedSegments.Segment dropped)
    {
        dropped = default;
        return _borrowed is not null && _borrowed.TryDrop(out dropped);
    }
}
