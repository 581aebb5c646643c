using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using FastPort.Buffers;

namespace FastPort.Connections;

public sealed partial class ArrayPoolCircularBuffer
{
    /// <inheritdoc cref="GetSpan"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Span<byte> GetWritableSpan(int sizeHint = 0)
    {
        int start = GrantContiguous(sizeHint);
        return new Span<byte>(_array, start, _granted);
    }

    /// <inheritdoc cref="GetMemory"/>
    internal Memory<byte> GetWritableMemory(int sizeHint = 0)
    {
        int start = GrantContiguous(sizeHint);
        return new Memory<byte>(_array, start, _granted);
    }

    /// <summary>
    /// A free region in one piece. If the free bytes wrap or are too few, moves the unread bytes to the front of the array or grows the
    /// array.
    /// </summary>
    /// <remarks>Invalidates a region returned earlier. Written bytes become readable when <see cref="Advance"/> commits them.</remarks>
    /// <param name="sizeHint">
    /// Minimum number of bytes, in one piece. 0 asks for the contiguous free bytes, at least 1; nothing moves unless the ring is full.
    /// </param>
    /// <returns>At least <paramref name="sizeHint"/> bytes and never empty. The contents are undefined.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="RingCapacityExceededException">
    /// Unread and requested bytes together exceed the maximum capacity; the ring is unchanged.
    /// </exception>
    public Span<byte> GetSpan(int sizeHint = 0) => GetWritableSpan(sizeHint);

    /// <summary>The same region as <see cref="GetSpan"/>, for operations that take a memory.</summary>
    /// <inheritdoc cref="GetSpan"/>
    public Memory<byte> GetMemory(int sizeHint = 0) => GetWritableMemory(sizeHint);

    /// <summary>
    /// Grows if necessary so that more bytes fit, and keeps this room until the bytes have been written: the ring does not shrink below it
    /// and does not return its array while a connection waits for input. The next call replaces an earlier reservation; 0 cancels it.
    /// </summary>
    /// <remarks>
    /// If the ring grows, a region returned earlier becomes invalid and the free bytes are in one piece. On the input ring that a
    /// connection passes to its protocol, the room is reserved in the ring that receives the next bytes. A protocol that reserves the
    /// length that a peer announced holds that much memory for each such peer: check the length against a limit first.
    /// </remarks>
    /// <param name="count">Bytes to be written in addition to the unread bytes, 0 or more.</param>
    /// <returns>
    /// False if unread bytes and <paramref name="count"/> together exceed the maximum capacity; the ring is then unchanged.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    public bool TryReserve(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (_reservesIn is not null)
        {
            return _reservesIn.TryReserve(count > int.MaxValue - Length ? int.MaxValue : Length + count);
        }

        if (!TryMakeRoom(count))
        {
            return false;
        }

        _reservedTo = WritePosition + count;
        return true;
    }

    /// <summary>As <see cref="TryReserve"/>, for bytes that are written at once: reserves nothing.</summary>
    internal bool TryMakeRoom(int count)
    {
        int length = Length;
        if (count > MaximumCapacity - length)
        {
            return false;
        }

        if (count > _limit - length)
        {
            Grow(count);
        }

        return true;
    }

    /// <summary>
    /// As <see cref="TryMakeRoom"/> and <see cref="GetWritableSpan"/> in one call, for exactly <paramref name="count"/> bytes.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryGetWritableSpan(int count, out Span<byte> span)
    {
        int length = Length;
        StartOverWhenEmpty(length);
        if (ContiguousFree(length) < count && !TryMakeContiguous(count))
        {
            span = default;
            return false;
        }

        _granted = count;
        span = new Span<byte>(_array, WriteIndex(length), count);
        return true;
    }

    /// <summary>Makes bytes written to the latest region readable. The rest of the region can still be written and committed.</summary>
    /// <param name="count">Bytes, 0 to the rest of the region; 0 is allowed without a region.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">
    /// <paramref name="count"/> exceeds the rest of the region, or there is no valid region: none was requested, or a write, a rewind or a
    /// move has invalidated it.
    /// </exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Advance(int count)
    {
        int length = Length;
        if ((uint)count > (uint)_granted)
        {
            ThrowAdvancePastEnd(count);
        }

        _granted -= count;
        _length = length + count;
    }

    /// <summary>Appends bytes to the unread ones, across the wrap. Grows if the bytes do not fit.</summary>
    /// <remarks>Invalidates a region returned earlier.</remarks>
    /// <param name="source">The bytes; must not lie in this ring.</param>
    /// <exception cref="RingCapacityExceededException">
    /// Unread and new bytes together exceed the maximum capacity; the ring is unchanged.
    /// </exception>
    public void Write(ReadOnlySpan<byte> source)
    {
        int length = Length;
        if (source.Length > _limit - length)
        {
            Grow(source.Length);
        }

        StartOverWhenEmpty(length);
        CopyIn(WriteIndex(length), source);
        _granted = 0;
        _length = length + source.Length;
    }

    /// <summary>Drops the unread bytes at and after a position, for an encoder that failed halfway.</summary>
    /// <remarks>Invalidates a region returned earlier.</remarks>
    /// <param name="position">
    /// Absolute position that <see cref="WritePosition"/> is reset to, between the first unread byte and <see cref="WritePosition"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="position"/> is outside its range.</exception>
    public void RewindTo(long position)
    {
        int length = Length;
        long offset = position - _readPosition;
        if ((ulong)offset > (ulong)length)
        {
            ThrowPosition(position);
        }

        _granted = 0;
        _length = (int)offset;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int GrantContiguous(int sizeHint)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        int length = Length;
        StartOverWhenEmpty(length);
        int needed = Math.Max(1, sizeHint);
        int free = ContiguousFree(length);
        if (free < needed)
        {
            MakeContiguous(needed);
            free = ContiguousFree(length);
        }

        _granted = free;
        return WriteIndex(length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void StartOverWhenEmpty(int length)
    {
        if (length == 0)
        {
            _head = 0;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int WriteIndex(int offset) => (_head + offset) & (_capacity - 1);

    // The contiguous free bytes after the unread ones. If the unread bytes reach the end of the array, all free bytes are in one piece
    // before them.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int ContiguousFree(int length)
    {
        int end = _head + length;
        int contiguous = end < _capacity ? _capacity - end : _capacity - length;
        return Math.Min(contiguous, _limit - length);
    }

    private bool TryMakeContiguous(int needed)
    {
        if (needed > MaximumCapacity - _length)
        {
            return false;
        }

        MakeContiguous(needed);
        return true;
    }

    private void CopyIn(int start, ReadOnlySpan<byte> source)
    {
        int beforeWrap = Math.Min(source.Length, _capacity - start);
        LargeCopy.Copy(source[..beforeWrap], new Span<byte>(_array, start, beforeWrap));
        LargeCopy.Copy(source[beforeWrap..], new Span<byte>(_array, 0, source.Length - beforeWrap));
    }

    [DoesNotReturn]
    private void ThrowAdvancePastEnd(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        throw new InvalidOperationException(
            $"Cannot advance {count} bytes: {_granted} are left of the latest region. Get a region, write to it, then "
            + $"advance.");
    }

    [DoesNotReturn]
    private void ThrowPosition(long position) =>
        throw new ArgumentOutOfRangeException(
            nameof(position), position,
            $"The position does not lie within the unread bytes {_readPosition} to {_readPosition + _length}.");
}
