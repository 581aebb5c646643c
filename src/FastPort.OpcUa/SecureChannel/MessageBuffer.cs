using System.Buffers;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// A message in one piece: a growing array from a pool. A message to be sent may refer to one large part elsewhere. Not thread-safe;
/// <see cref="Dispose"/> returns the array once.
/// </summary>
/// <param name="pool">The pool of arrays.</param>
/// <param name="expectedBytes">Length of the first array. Defaults to 1 KiB.</param>
internal sealed class MessageBuffer(ArrayPool<byte> pool, int expectedBytes = 0) : ILendingWriter, IDisposable
{
    private const int FirstBytes = 1024;

    // A message is often as long as the previous one: it need not grow again.
    private int _expected = expectedBytes;
    private byte[] _array = [];
    private ReadOnlyMemory<byte> _part;
    private int _partAt;

    /// <summary>Where arrays come from.</summary>
    public ArrayPool<byte> Pool => pool;

    /// <summary>The receiver of the buffer when a connection returns its lent memory; null if it was never lent.</summary>
    public Stack<MessageBuffer>? LentBy { get; set; }

    /// <summary>Whether a large part may stay in place. Then <see cref="Written"/> is not the whole message. Defaults to false.</summary>
    public bool AcceptsPart { get; set; }

    /// <summary>Bytes written, without the part elsewhere.</summary>
    public int Length { get; private set; }

    /// <summary>Bytes of the message.</summary>
    public long TotalLength => (long)Length + _part.Length;

    /// <summary>Bytes of the array.</summary>
    public int Capacity => _array.Length;

    public ReadOnlySpan<byte> Written => _array.AsSpan(0, Length);

    public ArraySegment<byte> Segment => new(_array, 0, Length);

    /// <summary>The contiguous bytes of the message from a position on, up to a maximum.</summary>
    public ReadOnlyMemory<byte> PieceAt(long position, int limit)
    {
        if (position < _partAt || _part.IsEmpty)
        {
            int end = _part.IsEmpty ? Length : _partAt;
            return _array.AsMemory((int)position, (int)Math.Min(limit, end - position));
        }

        long inPart = position - _partAt;
        if (inPart < _part.Length)
        {
            return _part.Slice((int)inPart, (int)Math.Min(limit, _part.Length - inPart));
        }

        int after = (int)(position - _part.Length);
        return _array.AsMemory(after, Math.Min(limit, Length - after));
    }

    public bool TryLend(ReadOnlyMemory<byte> bytes)
    {
        if (!AcceptsPart || !_part.IsEmpty)
        {
            return false;
        }

        (_part, _partAt) = (bytes, Length);
        return true;
    }

    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_array.Length - Length), nameof(count));
        Length += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.AsMemory(Length);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _array.AsSpan(Length);
    }

    public void Write(ReadOnlySpan<byte> bytes)
    {
        Grow(bytes.Length);
        bytes.CopyTo(_array.AsSpan(Length));
        Length += bytes.Length;
    }

    /// <summary>Takes back what was written last.</summary>
    /// <param name="length">The bytes that stay.</param>
    public void Truncate(int length)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)length, (uint)Length, nameof(length));
        Length = length;
    }

    /// <summary>Empties the buffer. An array larger than the bytes to keep returns to the pool.</summary>
    public void Clear(int keepBytes)
    {
        if (_array.Length > keepBytes)
        {
            _expected = Length;
            ReturnArray();
        }

        Length = 0;
        _part = default;
    }

    public void Dispose()
    {
        Length = 0;
        _part = default;
        ReturnArray();
    }

    private void Grow(int count)
    {
        if (_array.Length - Length >= Math.Max(count, 1))
        {
            return;
        }

        long least = Length + (long)Math.Max(count, _array.Length == 0 ? Math.Max(_expected, FirstBytes) : FirstBytes);
        byte[] larger = pool.Rent((int)Math.Clamp(2L * _array.Length, least, Array.MaxLength));
        Written.CopyTo(larger);
        ReturnArray();
        _array = larger;
    }

    private void ReturnArray()
    {
        if (_array.Length != 0)
        {
            pool.Return(_array);
            _array = [];
        }
    }
}
