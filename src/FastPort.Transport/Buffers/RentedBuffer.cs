using System.Buffers;

namespace FastPort.Connections;

/// <summary>Owns one rented array with a copy of bytes that must outlive their ring, such as the body of a queued request.</summary>
/// <remarks>
/// A mutable struct, so that it allocates nothing but the array. Exactly one variable may own the array: a copy of the struct is a second
/// owner, and disposing both returns the array twice, which corrupts the pool. Keep the struct in one non-readonly field, pass it by ref,
/// and set the old variable to default when ownership moves. Not thread-safe. The default value is empty and owns no array.
/// </remarks>
public struct RentedBuffer : IDisposable
{
    private const int DisposedLength = -1;

    private readonly ArrayPool<byte>? _pool;
    private byte[]? _array;
    private int _length;

    private RentedBuffer(ArrayPool<byte> pool, byte[] array, int length)
    {
        _pool = pool;
        _array = array;
        _length = length;
    }

    /// <summary>Bytes copied; the array may be longer.</summary>
    /// <exception cref="ObjectDisposedException">The buffer was disposed.</exception>
    public readonly int Length
    {
        get
        {
            ObjectDisposedException.ThrowIf(_length < 0, typeof(RentedBuffer));
            return _length;
        }
    }

    /// <summary>The bytes, valid until <see cref="Dispose"/>.</summary>
    /// <exception cref="ObjectDisposedException">The buffer was disposed.</exception>
    public readonly Span<byte> Span => new(_array, 0, Length);

    /// <summary>The bytes, valid until <see cref="Dispose"/>.</summary>
    /// <exception cref="ObjectDisposedException">The buffer was disposed.</exception>
    public readonly Memory<byte> Memory => new(_array, 0, Length);

    /// <summary>Copies bytes into a rented array; rents none if there are no bytes.</summary>
    /// <param name="source">The bytes, at most <see cref="Array.MaxLength"/>.</param>
    /// <param name="pool">The pool that the array is rented from and returned to. Defaults to <see cref="ArrayPool{T}.Shared"/>.</param>
    /// <returns>The owner of the copy; the caller disposes it.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="source"/> is longer than an array can be.</exception>
    public static RentedBuffer CopyOf(ReadOnlySequence<byte> source, ArrayPool<byte>? pool = null)
    {
        if (source.IsEmpty)
        {
            return default;
        }

        ArgumentOutOfRangeException.ThrowIfGreaterThan(source.Length, Array.MaxLength, nameof(source));
        pool ??= ArrayPool<byte>.Shared;
        int length = (int)source.Length;
        byte[] array = pool.Rent(length);
        source.CopyTo(array);
        return new RentedBuffer(pool, array, length);
    }

    /// <summary>Returns the array to its pool. A second call on the same variable is ignored.</summary>
    public void Dispose()
    {
        byte[]? array = _array;
        _array = null;
        _length = DisposedLength;
        if (array is not null)
        {
            _pool!.Return(array);
        }
    }
}
