using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace FastPort.Buffers;

/// <summary>
/// A byte ring in one array rented from an <see cref="ArrayPool{T}"/>: a socket reads straight into it and a protocol decodes in place,
/// or a protocol encodes in place and a socket sends from it.
/// </summary>
/// <remarks>
/// <para>
/// The ring rents on the first write, doubles while it must, gives memory back through <see cref="TryShrink"/> and
/// <see cref="TryReleaseWhenEmpty"/>, and returns every array to its pool exactly once, the last one in <see cref="Dispose"/>.
/// Only the power of two that was asked for is used, even where the pool hands out a longer array. Arrays are neither cleared when rented
/// nor when returned.
/// </para>
/// <para>
/// Spans, memories and sequences point into the rented array. <see cref="Consume"/>, <see cref="Advance"/>, <see cref="Patch"/>,
/// <see cref="RewindTo"/>, <see cref="GetWritableSpans"/> and all reading members never move bytes. <see cref="GetWritableSpan"/>,
/// <see cref="GetWritableMemory"/>, <see cref="GetSpan"/>, <see cref="GetMemory"/>, <see cref="Write"/>, <see cref="TryReserve"/>,
/// <see cref="TryGetContiguous"/> and <see cref="TryShrink"/> may move them, and with <see cref="TryReleaseWhenEmpty"/> and
/// <see cref="Dispose"/> may return the array: none of these may be called while a socket operation still uses memory of this ring.
/// </para>
/// <para>
/// A ring that a connection offers may show bytes that lie elsewhere (an in-process peer's); to its reader that makes no difference. Bytes
/// to be read are never to be written to.
/// </para>
/// <para>
/// Not thread-safe: one owner at a time, or a lock around every member. Any use after <see cref="Dispose"/> throws
/// <see cref="ObjectDisposedException"/>.
/// </para>
/// </remarks>
public sealed partial class ArrayPoolCircularBuffer : IBufferWriter<byte>, IDisposable
{
    /// <summary>The capacity, in bytes, that is rented first unless the constructor is told otherwise: 4 KiB.</summary>
    public const int DefaultMinimumCapacity = 4 * 1024;

    /// <summary>The most unread bytes a ring holds unless the constructor is told otherwise: 4 MiB.</summary>
    public const int DefaultMaximumCapacity = 4 * 1024 * 1024;

    // The largest power of two an array of bytes can have; head + length then still fits an int.
    private const int LargestCapacity = 1 << 30;

    // Kept in _length, so that the load every member does anyway also tells that the ring is gone.
    private const int DisposedLength = -1;

    private readonly ArrayPool<byte> _pool;
    private readonly int _minimumArray;
    private readonly int _maximumArray;

    private byte[]? _array;

    // The part of _array in use as the ring: a power of two, 0 while no array is held.
    private int _capacity;

    // Unread bytes that fit without growing: _capacity, or MaximumCapacity where that is no power of two and less.
    private int _limit;

    // Index of the first unread byte; always 0 while no array is held.
    private int _head;

    // Unread bytes.
    private int _length;

    // What Advance may still commit of the region handed out last.
    private int _granted;

    private long _readPosition;

    // Absolute position up to which TryReserve has promised room; not above the write position where nothing is promised any more.
    private long _reservedTo;

    /// <summary>Makes an empty ring that holds no array yet.</summary>
    /// <param name="minimumCapacity">
    /// Bytes rented on the first write and never shrunk below, rounded up to a power of two; 1 to <paramref name="maximumCapacity"/>.
    /// Defaults to <see cref="DefaultMinimumCapacity"/>.
    /// </param>
    /// <param name="maximumCapacity">
    /// The most unread bytes the ring ever holds, kept exactly; only the array behind it is rounded up to a power of two; 1 to 2^30.
    /// Defaults to <see cref="DefaultMaximumCapacity"/>.
    /// </param>
    /// <param name="pool">Where arrays come from and go back to. Defaults to <see cref="ArrayPool{T}.Shared"/>.</param>
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

    /// <summary>Bytes of the array in use, a power of two; 0 while no array is held.</summary>
    public int Capacity
    {
        get
        {
            _ = Length;
            return _isShowing ? 0 : _capacity;
        }
    }

    /// <summary>The most unread bytes the ring ever holds.</summary>
    public int MaximumCapacity { get; private set; }

    /// <summary>Bytes ever consumed: the absolute position of the first unread byte.</summary>
    public long ReadPosition
    {
        get
        {
            _ = Length;
            return _readPosition;
        }
    }

    /// <summary>
    /// Bytes ever written and not rewound: the absolute position the next byte will have, to be given to <see cref="Patch"/> or
    /// <see cref="RewindTo"/> later.
    /// </summary>
    public long WritePosition => _readPosition + Length;

    /// <summary>Returns the array to its pool. Unread bytes are lost. A second call does nothing.</summary>
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
