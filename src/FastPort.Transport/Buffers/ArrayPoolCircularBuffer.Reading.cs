using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using FastPort.Buffers;

namespace FastPort.Connections;

public sealed partial class ArrayPoolCircularBuffer
{
    // Allocated for the first wrapped range, then reused.
    private RingSegment? _wrappedFirst;
    private RingSegment? _wrappedSecond;

    /// <summary>The unread bytes up to the wrap: all unread bytes if they do not wrap, empty if there are none.</summary>
    internal ReadOnlySpan<byte> FirstReadableSpan
    {
        get
        {
            int length = Length;
            return new ReadOnlySpan<byte>(_array, _head, Math.Min(length, _capacity - _head));
        }
    }

    /// <summary>The same bytes as <see cref="FirstReadableSpan"/>, for operations that take a memory.</summary>
    internal ReadOnlyMemory<byte> FirstReadableMemory
    {
        get
        {
            int length = Length;
            return new ReadOnlyMemory<byte>(_array, _head, Math.Min(length, _capacity - _head));
        }
    }

    /// <summary>All unread bytes, oldest first.</summary>
    /// <param name="first">The unread bytes up to the wrap.</param>
    /// <param name="second">The unread bytes after the wrap; empty if the unread bytes do not wrap.</param>
    internal void GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second)
    {
        int length = Length;
        int beforeWrap = Math.Min(length, _capacity - _head);
        first = new ReadOnlySpan<byte>(_array, _head, beforeWrap);
        second = length == beforeWrap ? default : BehindWrap(0, length - beforeWrap).Span;
    }

    /// <summary>
    /// A range of the unread bytes as a sequence. Copies nothing, and allocates only for the first wrapped range of a ring.
    /// </summary>
    /// <remarks>
    /// Valid until the range is consumed or a member that may move bytes is called. A wrapped range uses two segments that the ring owns
    /// and reuses: the next wrapped range invalidates the previous one, so only one wrapped range can be in use at a time.
    /// </remarks>
    /// <param name="offset">Unread bytes to skip, 0 to <see cref="Length"/>.</param>
    /// <param name="length">Bytes of the range, 0 to <see cref="Length"/> less <paramref name="offset"/>.</param>
    /// <returns>The range; a single segment unless it wraps.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The range does not lie within the unread bytes.</exception>
    public ReadOnlySequence<byte> GetReadableSequence(int offset, int length)
    {
        CheckRange(offset, length);
        if (length == 0)
        {
            return ReadOnlySequence<byte>.Empty;
        }

        int start = _head + offset;
        int beforeWrap = _capacity - start;
        return length <= beforeWrap
            ? new ReadOnlySequence<byte>(_array!, start, length)
            : GetWrappedSequence(start, beforeWrap, length);
    }

    /// <summary>As <see cref="GetReadableSequence"/>, as one span; false if the range wraps.</summary>
    /// <param name="offset">Unread bytes to skip, 0 to <see cref="Length"/>.</param>
    /// <param name="length">Bytes of the range, 0 to <see cref="Length"/> less <paramref name="offset"/>.</param>
    /// <param name="span">The range; empty if the result is false.</param>
    /// <exception cref="ArgumentOutOfRangeException">The range does not lie within the unread bytes.</exception>
    public bool TryGetReadableSpan(int offset, int length, out ReadOnlySpan<byte> span)
    {
        CheckRange(offset, length);
        int start = _head + offset;
        if (length <= _capacity - start)
        {
            span = new ReadOnlySpan<byte>(_array, start, length);
            return true;
        }

        bool whole = TryGetBehindWrap(start, length, out ReadOnlyMemory<byte> memory);
        span = memory.Span;
        return whole;
    }

    /// <summary>
    /// The oldest unread bytes as one span, for a protocol that needs a message or its header in one piece. Moves the unread bytes if these
    /// bytes wrap. False, with nothing moved, if fewer bytes are unread.
    /// </summary>
    /// <remarks>
    /// Copies all unread bytes if these bytes wrap, otherwise nothing. Call it again in the next burst: bytes that arrive may wrap again.
    /// The span is valid until the bytes are consumed or a member that may move bytes is called. If this call moves bytes, it invalidates a
    /// writable region returned earlier.
    /// </remarks>
    /// <param name="count">Bytes, 0 or more.</param>
    /// <param name="span">Exactly <paramref name="count"/> bytes; empty if the result is false.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    public bool TryGetContiguous(int count, out ReadOnlySpan<byte> span)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count > Length)
        {
            span = default;
            return false;
        }

        if (!TryGetReadableSpan(0, count, out span))
        {
            Reallocate(ArrayFor(_length));
            span = new ReadOnlySpan<byte>(_array, 0, count);
        }

        return true;
    }

    /// <summary>As <see cref="TryGetReadableSpan"/>, for operations that take a memory.</summary>
    /// <param name="offset">Unread bytes to skip, 0 to <see cref="Length"/>.</param>
    /// <param name="length">Bytes of the range, 0 to <see cref="Length"/> less <paramref name="offset"/>.</param>
    /// <param name="memory">The range; empty if the result is false.</param>
    /// <exception cref="ArgumentOutOfRangeException">The range does not lie within the unread bytes.</exception>
    internal bool TryGetReadableMemory(int offset, int length, out ReadOnlyMemory<byte> memory)
    {
        CheckRange(offset, length);
        int start = _head + offset;
        if (length <= _capacity - start)
        {
            memory = new ReadOnlyMemory<byte>(_array, start, length);
            return true;
        }

        return TryGetBehindWrap(start, length, out memory);
    }

    /// <summary>Copies unread bytes, across the wrap, without consuming them.</summary>
    /// <param name="offset">Unread bytes to skip, 0 to <see cref="Length"/>.</param>
    /// <param name="destination">Filled completely; its length is at most <see cref="Length"/> less <paramref name="offset"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The range does not lie within the unread bytes.</exception>
    public void CopyTo(int offset, Span<byte> destination)
    {
        CheckRange(offset, destination.Length);
        int start = _head + offset;
        int beforeWrap = Math.Clamp(_capacity - start, 0, destination.Length);
        if (beforeWrap != 0)
        {
            LargeCopy.Copy(new ReadOnlySpan<byte>(_array, start, beforeWrap), destination);
        }

        if (beforeWrap != destination.Length)
        {
            LargeCopy.Copy(BehindWrap(start + beforeWrap - _capacity, destination.Length - beforeWrap).Span, destination[beforeWrap..]);
        }
    }

    /// <summary>Drops the oldest unread bytes. When all bytes are consumed, the next write gets the whole array in one piece.</summary>
    /// <remarks>A writable region stays valid: a receive may be in progress while older bytes are consumed.</remarks>
    /// <param name="count">Bytes, 0 to <see cref="Length"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative or above <see cref="Length"/>.</exception>
    public void Consume(int count)
    {
        int length = Length;
        if ((uint)count > (uint)length)
        {
            ThrowConsumePastEnd(count, length);
        }

        // The next write resets the head of an empty ring to 0. A reset here would break a writable region returned earlier: the region
        // would no longer follow the unread bytes.
        int head = _head + count;
        _head = head < _capacity ? head : Wrap(head);
        _length = length - count;
        _readPosition += count;
    }

    private bool TryGetBehindWrap(int start, int length, out ReadOnlyMemory<byte> memory)
    {
        // A range without bytes, or one that starts after the wrap, is in one piece.
        bool whole = length == 0 || start >= _capacity;
        memory = length == 0 || !whole ? default : BehindWrap(start - _capacity, length);
        return whole;
    }

    // If the range starts after the wrap, beforeWrap is 0 or negative.
    private ReadOnlySequence<byte> GetWrappedSequence(int start, int beforeWrap, int length)
    {
        if (beforeWrap <= 0)
        {
            return new ReadOnlySequence<byte>(BehindWrap(-beforeWrap, length));
        }

        RingSegment second = _wrappedSecond ??= new RingSegment();
        RingSegment first = _wrappedFirst ??= new RingSegment();
        second.Set(BehindWrap(0, length - beforeWrap), beforeWrap, next: null);
        first.Set(new ReadOnlyMemory<byte>(_array, start, beforeWrap), 0, second);
        return new ReadOnlySequence<byte>(first, 0, second, length - beforeWrap);
    }

    private void CheckRange(int offset, int count)
    {
        int length = Length;
        if ((uint)offset > (uint)length || (uint)count > (uint)(length - offset))
        {
            ThrowRange(offset, count, length);
        }
    }

    [DoesNotReturn]
    private static void ThrowRange(int offset, int count, int length) =>
        throw new ArgumentOutOfRangeException(
            nameof(offset), offset, $"{count} bytes at offset {offset} do not lie within the {length} unread bytes of the ring.");

    [DoesNotReturn]
    private static void ThrowConsumePastEnd(int count, int length) =>
        throw new ArgumentOutOfRangeException(nameof(count), count, $"Cannot consume {count} bytes: the ring holds {length} unread bytes.");
}
