using System.Buffers;
using FastPort.Buffers;

namespace FastPort.Transports.Epoll;

/// <summary>
/// A <see cref="SendRing"/> that is sent in at most two pieces at a time, counts what it has sent, and holds an array only while it holds
/// bytes. Not thread-safe: <see cref="EpollOutput"/> says who owns which lane when.
/// </summary>
internal sealed class OutputLane(int maximumBytes, ArrayPool<byte> pool) : IDisposable
{
    private readonly SendRing _bytes = new(maximumBytes, pool);
    private SizeEstimate _burst;

    public ArrayPoolCircularBuffer Ring => _bytes.Ring;

    public bool IsEmpty => _bytes.IsEmpty;

    /// <summary>Bytes not yet sent.</summary>
    public long Pending => Ring.Length + _bytes.BorrowedBytes;

    /// <summary>Bytes ever sent.</summary>
    public long Sent { get; private set; }

    /// <summary>How many of the loop's bytes go out before these: what the loop had written when the write ended.</summary>
    public long After { get; set; }

    /// <summary>To be called before a write: an empty lane holds no array, and the next burst is likely as large as the last.</summary>
    public void Prepare()
    {
        if (Ring.Capacity == 0)
        {
            Ring.TryMakeRoom(_burst.Expected);
        }
    }

    /// <inheritdoc cref="SendRing.TryBorrow"/>
    public bool TryBorrow(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) => _bytes.TryBorrow(memory, release, state);

    /// <summary>
    /// Moves the ring's bytes behind those of another lane. False where there is a segment, or no memory: then nothing was moved.
    /// </summary>
    public bool TryMoveTo(OutputLane other)
    {
        try
        {
            if (_bytes.BorrowedCount != 0 || !other.Ring.TryReserve(Ring.Length))
            {
                return false;
            }
        }
        catch (Exception)
        {
            // The pool has none. Its writer must not fail for what is only a copy saved.
            return false;
        }

        Ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        other.Ring.Write(first);
        other.Ring.Write(second);
        Ring.Consume(Ring.Length);
        return true;
    }

    /// <inheritdoc cref="SendRing.BorrowedCount"/>
    public int BorrowedCount => _bytes.BorrowedCount;

    /// <inheritdoc cref="SendRing.Gather"/>
    public int Gather(Span<ReadOnlyMemory<byte>> pieces) => _bytes.Gather(pieces);

    /// <summary>What goes out next, in at most two pieces of which the first is not empty unless the lane is.</summary>
    public void Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second)
    {
        if (!_bytes.TryPeek(out ReadOnlyMemory<byte> ring, out ReadOnlyMemory<byte> borrowed))
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
            // Most often what comes before a borrowed body is its header: both leave with one call.
            first = ring.Span;
            second = borrowed.Span;
        }
    }

    /// <summary>
    /// Takes bytes as sent. Segments that are needed no more are handed to the releaser, one by one, those without a byte too.
    /// </summary>
    /// <param name="count">Bytes, 0 to the sum of what <see cref="Next"/> gave.</param>
    /// <param name="release">Calls a segment's release.</param>
    public void TakeSent(int count, Action<BorrowedSegments.Segment> release)
    {
        Sent += count;
        while (count > 0)
        {
            // What lies in the ring alone may wrap and goes at once; beside segments it goes piece by piece.
            int taken = _bytes.BorrowedCount == 0 ? count : Math.Min(count, _bytes.NextMemory.Length);
            count -= taken;
            if (_bytes.Sent(taken, out BorrowedSegments.Segment ended))
            {
                release(ended);
            }
        }

        while (_bytes.TryTakeEmpty(out BorrowedSegments.Segment empty))
        {
            release(empty);
        }
    }

    /// <summary>
    /// Everything is sent: the array goes back at once, so that an idle connection holds none and the next burst gets a warm one.
    /// </summary>
    /// <param name="burst">Bytes that the lane held when its sending began.</param>
    public void Rest(int burst)
    {
        _burst.Saw(burst);
        Ring.TryReleaseWhenEmpty();
    }

    /// <summary>Releases what was borrowed and will not be sent.</summary>
    public void DropBorrowed(Action<BorrowedSegments.Segment> release)
    {
        while (_bytes.TryDrop(out BorrowedSegments.Segment dropped))
        {
            release(dropped);
        }
    }

    public void Dispose() => Ring.Dispose();
}
