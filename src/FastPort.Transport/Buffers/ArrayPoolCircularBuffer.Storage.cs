using System.Numerics;

namespace FastPort.Connections;

public sealed partial class ArrayPoolCircularBuffer
{
    /// <summary>
    /// Returns the array to the pool if no byte is unread, so that an idle connection holds no array, and cancels a reservation. The next
    /// write rents an array again.
    /// </summary>
    /// <remarks>If this call returns an array, a region returned earlier becomes invalid.</remarks>
    /// <returns>Whether the ring now holds no array; false if it has unread bytes.</returns>
    internal bool TryReleaseWhenEmpty()
    {
        if (Length != 0)
        {
            return false;
        }

        _reservedTo = 0;
        ReturnArray();
        return true;
    }

    /// <summary>Called before a wait for bytes: releases memory that is neither unread nor reserved.</summary>
    internal void ReleaseWhenIdle()
    {
        if (_reservedTo > _readPosition || !TryReleaseWhenEmpty())
        {
            TryShrink();
        }
    }

    /// <summary>
    /// Moves to a smaller array after a burst. If the unread and reserved bytes fit a quarter of the capacity, the ring rents an array of
    /// at least twice their size, not below the minimum. An empty ring above its minimum returns its array and rents the minimum on the
    /// next write.
    /// </summary>
    /// <remarks>
    /// Costs two comparisons if there is nothing to do. Call it when the connection is idle (at a heartbeat or an idle tick), not after
    /// every message: a load that comes in bursts would otherwise grow the ring again each time. If the ring shrinks, a region returned
    /// earlier becomes invalid.
    /// </remarks>
    /// <returns>Whether the capacity became smaller.</returns>
    internal bool TryShrink()
    {
        long needed = Math.Max(Length, _reservedTo - _readPosition);
        if (_capacity <= _minimumArray || needed > _capacity / 4)
        {
            return false;
        }

        if (needed == 0)
        {
            ReturnArray();
        }
        else
        {
            Reallocate(ArrayFor((int)needed * 2));
        }

        return true;
    }

    /// <summary>Changes <see cref="MaximumCapacity"/>: at least the unread bytes, at most the constructor's value.</summary>
    internal void LimitTo(int maximumCapacity)
    {
        MaximumCapacity = maximumCapacity;
        _limit = Math.Min(_capacity, maximumCapacity);
    }

    // The size to rent, a power of two, so that this many bytes fit.
    private int ArrayFor(int bytes) => Math.Max(_minimumArray, (int)BitOperations.RoundUpToPowerOf2((uint)bytes));

    private void Grow(int count)
    {
        if (count > MaximumCapacity - _length)
        {
            throw new RingCapacityExceededException(count, _length, MaximumCapacity);
        }

        Reallocate(ArrayFor(_length + count));
    }

    // Only unread bytes in the middle of the array split the free bytes; unread bytes that wrap leave the free bytes in one piece.
    private void MakeContiguous(int needed)
    {
        if (needed > _limit - _length)
        {
            Grow(needed);
        }
        else if (_length > _capacity / 2 && _capacity < _maximumArray)
        {
            // A ring that is more than half full would move many bytes for little room, repeatedly. Doubling has amortized constant cost.
            Reallocate(_capacity * 2);
        }
        else
        {
            new ReadOnlySpan<byte>(_array, _head, _length).CopyTo(_array);
            _head = 0;
            _granted = 0;
        }
    }

    // Rents first: if the pool throws, the ring is unchanged.
    private void Reallocate(int capacity)
    {
        byte[] array = _pool.Rent(capacity);
        int length = _length;
        CopyTo(0, new Span<byte>(array, 0, length));
        ReturnArray();
        _array = array;
        _capacity = capacity;
        _limit = Math.Min(capacity, MaximumCapacity);
    }

    private void ReturnArray()
    {
        byte[]? array = _isShowing ? null : _array;
        _array = null;
        _isShowing = false;
        _next = default;
        _capacity = 0;
        _limit = 0;
        _head = 0;
        _granted = 0;
        _wrappedFirst?.Clear();
        _wrappedSecond?.Clear();
        if (array is not null)
        {
            _pool.Return(array);
        }
    }
}
