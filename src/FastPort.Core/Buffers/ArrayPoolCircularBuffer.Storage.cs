using System.Numerics;

namespace FastPort.Buffers;

public sealed partial class ArrayPoolCircularBuffer
{
    /// <summary>
    /// Returns the array to the pool where nothing is unread, so that an idle connection holds none, and gives up what was reserved. The
    /// next write rents again.
    /// </summary>
    /// <remarks>Where it returns an array, it invalidates a region handed out before.</remarks>
    /// <returns>Whether the ring holds no array now; false where unread bytes keep it.</returns>
    public bool TryReleaseWhenEmpty()
    {
        if (Length != 0)
        {
            return false;
        }

        _reservedTo = 0;
        ReturnArray();
        return true;
    }

    /// <summary>Before waiting for bytes: gives back what is neither unread nor reserved.</summary>
    internal void ReleaseWhenIdle()
    {
        if (_reservedTo > _readPosition || !TryReleaseWhenEmpty())
        {
            TryShrink();
        }
    }

    /// <summary>
    /// Falls back to a smaller array after a burst: where the unread bytes and those that <see cref="TryReserve"/> has promised room for
    /// fit a quarter of the capacity, they move to one that they fill by half at most, never below the minimum. An empty ring above its
    /// minimum just returns its array and rents the minimum on the next write.
    /// </summary>
    /// <remarks>
    /// Two comparisons where there is nothing to do. Meant for a moment of rest (a heartbeat, an idle tick), not for every message: a load
    /// that comes in bursts would otherwise grow anew each time. Where it shrinks, it invalidates a region handed out before.
    /// </remarks>
    /// <returns>Whether the capacity became smaller.</returns>
    public bool TryShrink()
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

    /// <summary>Changes <see cref="MaximumCapacity"/>, to no less than the unread bytes; up to what the constructor was told.</summary>
    internal void LimitTo(int maximumCapacity)
    {
        MaximumCapacity = maximumCapacity;
        _limit = Math.Min(_capacity, maximumCapacity);
    }

    // The power of two to rent so that this many bytes fit.
    private int ArrayFor(int bytes) => Math.Max(_minimumArray, (int)BitOperations.RoundUpToPowerOf2((uint)bytes));

    private void Grow(int count)
    {
        if (count > MaximumCapacity - _length)
        {
            throw new RingCapacityExceededException(count, _length, MaximumCapacity);
        }

        Reallocate(ArrayFor(_length + count));
    }

    // Only unread bytes in the middle of the array split what is free; those that wrap leave it in one piece.
    private void MakeContiguous(int needed)
    {
        if (needed > _limit - _length)
        {
            Grow(needed);
        }
        else if (_length > _capacity / 2 && _capacity < _maximumArray)
        {
            // A ring that is mostly full would move much for little, again and again: doubling pays for itself as growth always does.
            Reallocate(_capacity * 2);
        }
        else
        {
            new ReadOnlySpan<byte>(_array, _head, _length).CopyTo(_array);
            _head = 0;
            _granted = 0;
        }
    }

    // Rents before it touches anything: where the pool throws, the ring is as it was.
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
