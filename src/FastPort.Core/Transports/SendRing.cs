using System.Buffers;
using FastPort.Buffers;

namespace FastPort.Transports;

/// <summary>
/// Bytes to be sent: a ring, and beside it the segments borrowed from writers (<see cref="BorrowedSegments"/>), allocated at the first
/// loan. Not thread-safe; <see cref="SendQueue"/> documents which thread owns which ring when.
/// </summary>
internal sealed class SendRing(int maximumBytes, ArrayPool<byte> pool)
{
    private const int MinimumCapacity = 4096;

    private BorrowedSegments? _borrowed;

    public ArrayPoolCircularBuffer Ring { get; private set; } = new(MinimumCapacity, maximumBytes, pool);

    public bool IsEmpty => Ring.IsEmpty && (_borrowed is null || _borrowed.IsEmpty);

    /// <summary>Bytes not yet sent.</summary>
    public long Bytes => Ring.Length + (_borrowed?.Bytes ?? 0);

    /// <summary>Segments that lie beside the ring.</summary>
    public int BorrowedCount => _borrowed?.Count ?? 0;

    /// <summary>Bytes ever sent.</summary>
    public long Sent { get; private set; }

    /// <summary>In a queue: how many of the event loop's bytes are sent before this ring.</summary>
    public long After { get; set; }

    /// <summary>While it is a spare: the spare below it.</summary>
    public SendRing? NextSpare { get; set; }

    /// <summary>The next bytes to send, up to the ring's wrap or the next segment.</summary>
    public ReadOnlyMemory<byte> NextMemory => _borrowed is null
        ? Ring.FirstReadableMemory
        : _borrowed.Next(Ring.ReadPosition, Ring.FirstReadableMemory);

    /// <summary>The next segment, and the ring's bytes before it; false if there is none.</summary>
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
    /// The next bytes to send, in pieces, up to the last segment or the ring's wrap. Returns their number, 0 if there is no segment.
    /// </summary>
    public int Gather(Span<ReadOnlyMemory<byte>> pieces) => _borrowed?.Gather(Ring, pieces) ?? 0;

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
            if (_borrowed is not null && _borrowed.IsNext(Ring.ReadPosition))
            {
                BorrowedSegments.Segment segment = _borrowed.TakeUnsent();
                (other._borrowed ??= new BorrowedSegments()).Add(other.Ring.WritePosition, segment.Memory, segment.Release, segment.State);
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
        BorrowedSegments borrowed = _borrowed ??= new BorrowedSegments();
        if (borrowed.Bytes + Ring.Length + memory.Length > Ring.MaximumCapacity)
        {
            return false;
        }

        borrowed.Add(Ring.WritePosition, memory, release, state);
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
        if (_borrowed is null || _borrowed.IsEmpty)
        {
            // May wrap.
            Ring.Consume(count);
            return;
        }

        while (count > 0)
        {
            int taken = Math.Min(count, NextMemory.Length);
            count -= taken;
            if (!_borrowed.IsNext(Ring.ReadPosition))
            {
                Ring.Consume(taken);
            }
            else if (_borrowed.Sent(taken, out BorrowedSegments.Segment ended))
            {
                releaser.Release(ended);
            }
        }

        while (_borrowed.IsEmptyNext(Ring.ReadPosition) && _borrowed.TryDrop(out BorrowedSegments.Segment empty))
        {
            releaser.Release(empty);
        }
    }

    /// <summary>Drops the unsent bytes and returns the array to the pool.</summary>
    /// <param name="releaser">Receives the segments; null if they belong to the caller again.</param>
    public void Drop(ISegmentReleaser? releaser)
    {
        while (_borrowed is not null && _borrowed.TryDrop(out BorrowedSegments.Segment dropped))
        {
            releaser?.Release(dropped);
        }

        Ring.Consume(Ring.Length);
        Ring.TryReleaseWhenEmpty();
    }
}
