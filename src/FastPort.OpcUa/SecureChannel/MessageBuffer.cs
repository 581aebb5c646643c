using System.Buffers;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>A message in one piece: a growing array from a pool. Not thread-safe; <see cref="Dispose"/> returns the array once.</summary>
/// <param name="pool">Where arrays come from.</param>
/// <param name="expectedBytes">Length of the first array. Defaults to 1 KiB.</param>
internal sealed class MessageBuffer(ArrayPool<byte> pool, int expectedBytes = 0) : IBufferWriter<byte>, IDisposable
{
    private const int FirstBytes = 1024;

    // A message is often as long as the one before: it need not grow again.
    private int _expected = expectedBytes;
    private byte[] _array = [];

    /// <summary>Where arrays come from.</summary>
    public ArrayPool<byte> Pool => pool;

    /// <summary>Where the buffer returns to when its memory, lent to a connection, comes back; null if it was never lent.</summary>
    public Stack<MessageBuffer>? LentBy { get; set; }

    /// <summary>Bytes written.</summary>
    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _array.AsSpan(0, Length);

    public ArraySegment<byte> Segment => new(_array, 0, Length);

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

    /// <summary>Empties the buffer. An array larger than the bytes to keep returns to the pool.</summary>
    public void Clear(int keepBytes)
    {
        if (_array.Length > keepBytes)
        {
            _expected = Length;
            ReturnArray();
        }

        Length = 0;
    }

    public void Dispose()
    {
        Length = 0;
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
