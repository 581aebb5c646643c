using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace FastPort.Connections;

/// <summary>
/// A byte ring in one array rented from an <see cref="ArrayPool{T}"/>: a socket receives into the ring and a protocol decodes in place, or
/// a protocol encodes in place and a socket sends from the ring.
/// </summary>
/// <remarks>
/// <para>
/// The ring rents an array on the first write, doubles it when necessary, and returns every array to its pool exactly once, the last one in
/// <see cref="Dispose"/>. A connection releases the memory of its rings when they are idle. The ring uses only the requested power of two,
/// even if the pool returns a longer array. Arrays are not cleared when rented or returned.
/// </para>
/// <para>
/// Spans, memories and sequences point into the rented array. <see cref="Consume"/>, <see cref="Advance"/>, <see cref="RewindTo"/> and all
/// reading members never move bytes. <see cref="GetSpan"/>, <see cref="GetMemory"/>, <see cref="Write"/>, <see cref="TryReserve"/> and
/// <see cref="TryGetContiguous"/> may move them, and with <see cref="Dispose"/> may return the array: do not call any of these while a
/// socket operation uses memory of this ring.
/// </para>
/// <para>
/// A ring that a connection passes to its protocol may show the bytes of another ring (an in-process peer's); the reader sees no
/// difference. Readers must not write to unread bytes.
/// </para>
/// <para>
/// Not thread-safe: use it from one thread at a time, or with a lock around every member. Any use after <see cref="Dispose"/> throws
/// <see cref="ObjectDisposedException"/>.
/// </para>
/// </remarks>
public sealed partial class ArrayPoolCircularBuffer : IBufferWriter<byte>, IDisposable
{
    /// <summary>Default of the capacity, in bytes, that the ring rents first: 4 KiB.</summary>
    internal const int DefaultMinimumCapacity = 4 * 1024;

    /// <summary>Default of the maximum number of unread bytes: 4 MiB.</summary>
    internal const int DefaultMaximumCapacity = 4 * 1024 * 1024;

    // The largest power of two that a byte array can have; head + length fits an int.
    private const int LargestCapacity = 1 << 30;

    // A value of _length: every member loads _length, so the check for disposal costs no extra load.
    private const int DisposedLength = -1;

    private readonly ArrayPool<byte> _pool;
    private readonly int _minimumArray;
    private readonly int _maximumArray;

    private byte[]? _array;

    // The part of _array that the ring uses: a power of two, 0 while the ring holds no array.
    private int _capacity;

    // Unread bytes that fit without growing: the smaller one of _capacity and MaximumCapacity.
    private int _limit;

    // Index of the first unread byte; 0 while the ring holds no array.
    private int _head;

    // Unread bytes.
    private int _length;

    // Bytes of the latest region that Advance may still commit.
    private int _granted;

    private long _readPosition;

    // Absolute position up to which TryReserve has reserved room; at or below the write position if nothing is reserved.
    private long _reservedTo;

    /// <summary>Creates an empty ring without an array.</summary>
    /// <param name="minimumCapacity">
    /// Bytes rented on the first write and never shrunk below, rounded up to a power of two; 1 to <paramref name="maximumCapacity"/>.
    /// Defaults to 4 KiB.
    /// </param>
    /// <param name="maximumCapacity">
    /// Maximum number of unread bytes, an exact limit; only the array is rounded up to a power of two. 1 to 2^30. Defaults to 4 MiB.
    /// </param>
    /// <param name="pool">The pool that arrays are rented from and returned to. Defaults to <see cref="ArrayPool{T}.Shared"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">A capacity is outside its range.</exception>
    public ArrayPoolCircularBuffer(
        int minimumCapacity = DefaultMinimumCapacity, int maximumCapacity = DefaultMaximumCapacity, ArrayPool<byte>? pool = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maximumCapacity);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(maximumCapacity, LargestCapacity);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(minimumCapacity);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minimumCapacity, maximumCapacity);

        _pool = pool ?? ArrayPool<byte>.Shared;
        MaximumCapacity = maximumCapacity;
        _minimumArray = (int)BitOperations.RoundUpToPowerOf2((uint)minimumCapacity);
        _maximumArray = (int)BitOperations.RoundUpToPowerOf2((uint)maximumCapacity);
    }

    /// <summary>Unread bytes.</summary>
    public int Length
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            int length = _length;
            if (length < 0)
            {
                ThrowDisposed();
            }

            return length;
        }
    }

    /// <summary>Whether no byte is unread.</summary>
    public bool IsEmpty => Length == 0;

    /// <summary>Bytes of the array in use, a power of two; 0 while the ring holds no array of its own.</summary>
    internal int Capacity
    {
        get
        {
            _ = Length;
            return _isShowing ? 0 : _capacity;
        }
    }

    /// <summary>Maximum number of unread bytes.</summary>
    internal int MaximumCapacity { get; private set; }

    /// <summary>Total bytes consumed: the absolute position of the first unread byte.</summary>
    internal long ReadPosition
    {
        get
        {
            _ = Length;
            return _readPosition;
        }
    }

    /// <summary>
    /// Total bytes written and not rewound: the absolute position of the next byte, for a later call of <see cref="RewindTo"/>.
    /// </summary>
    public long WritePosition => _readPosition + Length;

    /// <summary>Returns the array to its pool. Unread bytes are lost. A second call is ignored.</summary>
    public void Dispose()
    {
        if (_length < 0)
        {
            return;
        }

        ReturnArray();
        _length = DisposedLength;
    }

    [DoesNotReturn]
    private static void ThrowDisposed() => throw new ObjectDisposedException(nameof(ArrayPoolCircularBuffer));
}
