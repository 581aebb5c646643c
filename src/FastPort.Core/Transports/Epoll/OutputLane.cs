using System.Buffers;
using FastPort.Buffers;
using FastPort.Transports.Sockets;

namespace FastPort.Transports.Epoll;

/// <summary>
/// Bytes on their way out in order: a ring and, beside it, the segments borrowed from writers. Not thread-safe: <see cref="EpollOutput"/> says
/// who owns which lane when.
/// </summary>
internal sealed class OutputLane(int maximumBytes, ArrayPool<byte> pool) : IDisposable
{
    private const int MinimumCapacity = 4096;


    private BorrowedSegments? _borrowed;
    private long _borrowedSent;
    private int _sizeHint = MinimumCapacity;

    public ArrayPoolCircularBuffer Ring { get; } = new(MinimumCapacity, maximumBytes, pool);

    public bool IsEmpty => Ring.IsEmpty && (_borrowed is null || _borrowed.IsEmpty);

    /// <summary>Bytes not yet sent.</summary>
    public long Pending => Ring.Length + (_borrowed?.Bytes ?? 0);

    /// <summary>Bytes ever sent.</summary>
    public long Sent => Ring.ReadPosition + _borrowedSent;

    /// <summary>To be called before a write: an empty lane holds no array, and the next burst is likely as large as the last.</summary>
    public void Prepare()
    {
        if (Ring.Capacity == 0)
        {
            Ring.TryReserve(_sizeHint);
        }
    }

    /// <summary>False where there is no room.</summary>
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

    /// <summary>What goes out next, in at most two pieces of which the first is not empty unless the lane is.</summary>
    public void Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second)
    {
        if (_borrowed is null || _borrowed.IsEmpty)
        {
            Ring.GetReadableSpans(out first, out second);
            return;
        }

        ReadOnlyMemory<byte> ring = Ring.FirstReadableMemory;
        first = _borrowed.Next(Ring.ReadPosition, ring).Span;

        // Most often what comes before a borrowed body is its header: both leave with one call.
        second = _borrowed.IsNext(Ring.ReadPosition) ? default : _borrowed.Next(Ring.ReadPosition + first.Length, default).Span;
    }

    /// <summary>Takes bytes as sent. Segments that are needed no more are handed to the releaser, one by one.</summary>
    /// <param name="count">Bytes, 0 to the sum of what <see cref="Next"/> gave.</param>
    /// <param name="release">Calls a segment's release.</param>
    public void TakeSent(int count, Action<BorrowedSegments.Segment> release)
    {
        while (count > 0)
        {
            ReadOnlySpan<byte> first;
            if (_borrowed is null || _borrowed.IsEmpty)
            {
                Ring.Consume(count);
                return;
            }

            bool isBorrowed = _borrowed.IsNext(Ring.ReadPosition);
            first = _borrowed.Next(Ring.ReadPosition, Ring.FirstReadableMemory).Span;
            int taken = Math.Min(count, first.Length);
            count -= taken;
            if (!isBorrowed)
            {
                Ring.Consume(taken);
                continue;
            }

            _borrowedSent += taken;
            if (_borrowed.Sent(taken, out BorrowedSegments.Segment ended))
            {
                release(ended);
            }
        }
    }

    /// <summary>Everything is sent: the array goes back at once, so that an idle connection holds none and the next burst gets a warm one.</summary>
    /// <param name="burst">Bytes that the lane held when its sending began.</param>
    public void Rest(int burst)
    {
        // The memory of a large burst falls back by an eighth with each smaller one.
        _sizeHint = Math.Max(Math.Max(burst, _sizeHint - (_sizeHint >> 3)), MinimumCapacity);
        Ring.TryReleaseWhenEmpty();
    }

    /// <summary>Releases what was borrowed and will not be sent.</summary>
    public void DropBorrowed(Action<BorrowedSegments.Segment> release)
    {
        while (_borrowed is not null && _borrowed.TryDrop(out BorrowedSegments.Segment dropped))
        {
            release(dropped);
        }
    }

    public void Dispose() => Ring.Dispose();
}
