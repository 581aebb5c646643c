using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace FastPort.Buffers;

public sealed partial class ArrayPoolCircularBuffer
{
    /// <summary>
    /// A free region in one piece, moving the unread bytes to the front of the array or growing where the wrap or a lack of room is in the
    /// way.
    /// </summary>
    /// <remarks>Invalidates a region handed out before. Writes count only once <see cref="Advance"/> commits them.</remarks>
    /// <param name="sizeHint">
    /// Bytes needed at least, in one piece; 0 asks for whatever is free without moving anything, at least 1 byte.
    /// </param>
    /// <returns>At least <paramref name="sizeHint"/> bytes and never empty. Its contents are left over from earlier use.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="RingCapacityExceededException">
    /// Unread and asked-for bytes together exceed <see cref="MaximumCapacity"/>; the ring is unchanged.
    /// </exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> GetWritableSpan(int sizeHint = 0)
    {
        int start = GrantContiguous(sizeHint);
        return new Span<byte>(_array, start, _granted);
    }

    /// <summary>The same region as <see cref="GetWritableSpan"/>, for operations that take a memory.</summary>
    /// <inheritdoc cref="GetWritableSpan"/>
    public Memory<byte> GetWritableMemory(int sizeHint = 0)
    {
        int start = GrantContiguous(sizeHint);
        return new Memory<byte>(_array, start, _granted);
    }

    /// <inheritdoc cref="GetWritableSpan"/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetWritableSpan(sizeHint);

    /// <inheritdoc cref="GetWritableMemory"/>
    public Memory<byte> GetMemory(int sizeHint = 0) => GetWritableMemory(sizeHint);

    /// <summary>
    /// All free bytes of the array held now, without growing or moving anything; a ring that holds none rents its minimum. Both are empty
    /// where the ring is full: call <see cref="TryReserve"/> first where room is needed.
    /// </summary>
    /// <remarks>
    /// Invalidates a region handed out before. <see cref="Advance"/> commits from the start of <paramref name="first"/> on into
    /// <paramref name="second"/>.
    /// </remarks>
    /// <param name="first">The free bytes that follow the unread ones, up to the wrap.</param>
    /// <param name="second">The free bytes behind the wrap; empty where they do not wrap.</param>
    public void GetWritableSpans(out Span<byte> first, out Span<byte> second)
    {
        int length = Length;
        if (_array is null || _isShowing)
        {
            Reallocate(ArrayFor(length));
        }

        StartOverWhenEmpty(length);
        int contiguous = ContiguousFree(length);
        _granted = _limit - length;
        first = new Span<byte>(_array, WriteIndex(length), contiguous);
        second = new Span<byte>(_array, 0, _granted - contiguous);
    }

    /// <summary>
    /// Grows, where that is needed, so that more bytes fit, and keeps that room until so many bytes have been written: the ring neither
    /// shrinks below it nor, while a connection waits for input, gives its array back. The next call replaces what was reserved before; 0
    /// gives it up.
    /// </summary>
    /// <remarks>
    /// Where it grows, it invalidates a region handed out before and leaves the free bytes in one piece. On the ring of input that a
    /// connection offers it reserves where the next bytes will lie. A protocol that reserves what a peer asks for holds that much memory
    /// for each such peer: check the length against a limit before.
    /// </remarks>
    /// <param name="count">Bytes to be written besides those unread, 0 or more.</param>
    /// <returns>
    /// False where unread bytes and <paramref name="count"/> together exceed <see cref="MaximumCapacity"/>; the ring is then unchanged.
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

    /// <summary>As <see cref="TryReserve"/>, for bytes that are written before anybody waits: nothing is promised.</summary>
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

    /// <summary>As <see cref="TryReserve"/> and <see cref="GetWritableSpan"/> in one, for exactly as many bytes.</summary>
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

    /// <summary>
    /// Makes bytes written to the region handed out last readable. What is left of the region can still be written and committed.
    /// </summary>
    /// <param name="count">Bytes, 0 to what is left of the region; 0 is allowed without one.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">
    /// <paramref name="count"/> exceeds what is left of the region, or none is valid: none was asked for, or a write, a rewind or a move
    /// has invalidated it since.
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

    /// <summary>Copies bytes in behind the unread ones, across the wrap, growing where they do not fit.</summary>
    /// <remarks>Invalidates a region handed out before.</remarks>
    /// <param name="source">The bytes; must not lie in this ring.</param>
    /// <exception cref="RingCapacityExceededException">
    /// Unread and new bytes together exceed <see cref="MaximumCapacity"/>; the ring is unchanged.
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

    /// <summary>
    /// Overwrites bytes already written and still unread, across the wrap: a length prefix or a time stamp known only afterwards.
    /// </summary>
    /// <param name="position">
    /// Absolute position of the first byte, as <see cref="WritePosition"/> told it before that byte was written.
    /// </param>
    /// <param name="bytes">The bytes; must not lie in this ring.</param>
    /// <exception cref="ArgumentOutOfRangeException">Not all bytes to overwrite are unread.</exception>
    public void Patch(long position, ReadOnlySpan<byte> bytes)
    {
        int length = Length;
        long offset = position - _readPosition;
        if ((ulong)offset > (ulong)length || bytes.Length > length - (int)offset)
        {
            ThrowPosition(position, bytes.Length);
        }

        if (_isShowing)
        {
            // They are another's.
            Reallocate(ArrayFor(length));
        }

        CopyIn(WriteIndex((int)offset), bytes);
    }

    /// <summary>Drops the unread bytes written at and after a position, where an encoder failed half way.</summary>
    /// <remarks>Invalidates a region handed out before.</remarks>
    /// <param name="position">
    /// Absolute position that <see cref="WritePosition"/> goes back to, <see cref="ReadPosition"/> to <see cref="WritePosition"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="position"/> is outside its range.</exception>
    public void RewindTo(long position)
    {
        int length = Length;
        long offset = position - _readPosition;
        if ((ulong)offset > (ulong)length)
        {
            ThrowPosition(position, 0);
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

    // What is free behind the unread bytes in one piece. Unread bytes that reach the end of the array leave all that is free in one piece
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
            $"Cannot advance {count} bytes: {_granted} are left of the region handed out last. Ask for a region, write to it, then "
            + $"advance.");
    }

    [DoesNotReturn]
    private void ThrowPosition(long position, int count) =>
        throw new ArgumentOutOfRangeException(
            nameof(position), position,
            $"{count} bytes at position {position} do not lie within the unread bytes {_readPosition} to {_readPosition + _length}.");
}
