using System.Buffers;
using System.Numerics;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

internal enum RingAction
{
    Write,
    SpanThenAdvance,
    ExactSpanThenAdvance,
    MemoryThenAdvance,
    AdvanceInTwoSteps,
    ConsumeWhileRegionIsOut,
    Consume,
    ConsumeAll,
    Rewind,
    Reserve,
    Shrink,
    Release,
    Contiguous,
}

/// <summary>
/// One step of a random run; <paramref name="Size"/> and <paramref name="Part"/> are taken modulo what is possible where they must be.
/// </summary>
internal readonly record struct RingOperation(RingAction Action, int Size, int Part);

/// <summary>
/// Runs operations on a ring and on a plain list of bytes beside it and compares the two after each step through every reading member.
/// </summary>
internal sealed class RingModel : IDisposable
{
    private readonly TrackingArrayPool _pool;
    private readonly ArrayPoolCircularBuffer _ring;
    private readonly List<byte> _unread = [];
    private readonly int _minimum;
    private long _readPosition;
    private long _reservedTo;
    private byte _next;

    public RingModel(int minimum, int maximum, int surplus)
    {
        _pool = new TrackingArrayPool(surplus);
        _minimum = minimum;
        _ring = new ArrayPoolCircularBuffer(minimum, maximum, _pool);
    }

    /// <summary>Steps after which the unread bytes lay across the wrap: a run that never gets there proves little.</summary>
    public int WrappedSteps { get; private set; }

    /// <summary>Writes refused at the cap.</summary>
    public int RefusedWrites { get; private set; }

    /// <summary>Steps that made the capacity smaller without giving it up.</summary>
    public int Shrinks { get; private set; }

    public static void Run(int minimum, int maximum, int surplus, IEnumerable<RingOperation> operations)
    {
        using var model = new RingModel(minimum, maximum, surplus);
        foreach (RingOperation operation in operations)
        {
            model.Step(operation);
        }
    }

    public void Step(RingOperation operation)
    {
        Apply(operation);
        Compare(operation);
    }

    public void Dispose()
    {
        _ring.Dispose();
        _pool.AssertAllReturned();
    }

    private void Apply(RingOperation operation)
    {
        int size = operation.Size;
        int part = operation.Part;
        switch (operation.Action)
        {
            case RingAction.Write:
                byte[] bytes = NextBytes(size);
                if (Fits(size, () => _ring.Write(bytes)))
                {
                    _unread.AddRange(bytes);
                }

                break;
            case RingAction.SpanThenAdvance:
                if (Fits(Math.Max(1, size), () => _ring.GetWritableSpan(size)))
                {
                    Span<byte> span = _ring.GetWritableSpan(size);
                    Assert.True(span.Length >= Math.Max(1, size));
                    FillAndAdvance(span, part % (span.Length + 1));
                }

                break;
            case RingAction.ExactSpanThenAdvance:
                bool fits = _unread.Count + size <= _ring.MaximumCapacity;
                Assert.Equal(fits, _ring.TryGetWritableSpan(size, out Span<byte> exact));
                Assert.Equal(fits ? size : 0, exact.Length);
                if (fits)
                {
                    FillAndAdvance(exact, part % (size + 1));
                }

                break;
            case RingAction.MemoryThenAdvance:
                if (Fits(Math.Max(1, size), () => _ring.GetMemory(size)))
                {
                    Memory<byte> memory = _ring.GetMemory(size);
                    Assert.True(memory.Length >= Math.Max(1, size));
                    FillAndAdvance(memory.Span, part % (memory.Length + 1));
                }

                break;
            case RingAction.AdvanceInTwoSteps:
                if (Fits(Math.Max(1, size), () => _ring.GetSpan(size)))
                {
                    Span<byte> span = _ring.GetSpan(size);
                    int firstStep = part % (span.Length + 1);
                    FillAndAdvance(span, firstStep);
                    FillAndAdvance(span[firstStep..], (span.Length - firstStep) / 2);
                }

                break;
            case RingAction.ConsumeWhileRegionIsOut:
                if (Fits(Math.Max(1, size), () => _ring.GetSpan(size)))
                {
                    Span<byte> span = _ring.GetSpan(size);
                    Consume(_unread.Count);
                    FillAndAdvance(span, part % (span.Length + 1));
                }

                break;
            case RingAction.Consume:
                Consume(size % (_unread.Count + 1));
                break;
            case RingAction.ConsumeAll:
                Consume(_unread.Count);
                break;
            case RingAction.Rewind:
                int kept = _unread.Count - (size % (_unread.Count + 1));
                _ring.RewindTo(_readPosition + kept);
                _unread.RemoveRange(kept, _unread.Count - kept);
                break;
            case RingAction.Reserve:
                Reserve(size);
                break;
            case RingAction.Shrink:
                Shrink();
                break;
            case RingAction.Contiguous:
                Contiguous(operation.Size % (_unread.Count + 2));
                break;
            case RingAction.Release:
                Assert.Equal(_unread.Count == 0, _ring.TryReleaseWhenEmpty());
                _reservedTo = _unread.Count == 0 ? 0 : _reservedTo;
                Assert.True(_unread.Count > 0 || _ring.Capacity == 0);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(operation), operation, "Unknown action.");
        }
    }

    private bool Fits(int size, Action write)
    {
        if (_unread.Count + size <= _ring.MaximumCapacity)
        {
            write();
            return true;
        }

        RefusedWrites++;
        RingCapacityExceededException refusal = Assert.Throws<RingCapacityExceededException>(write);
        Assert.Equal((size, _unread.Count, _ring.MaximumCapacity), (refusal.RequestedBytes, refusal.UnreadBytes, refusal.MaximumCapacity));
        return false;
    }

    private void FillAndAdvance(Span<byte> span, int count)
    {
        byte[] bytes = NextBytes(count);
        bytes.CopyTo(span);
        _ring.Advance(count);
        _unread.AddRange(bytes);
    }

    private void Consume(int count)
    {
        _ring.Consume(count);
        _unread.RemoveRange(0, count);
        _readPosition += count;
    }

    private void Reserve(int size)
    {
        bool fits = _unread.Count + size <= _ring.MaximumCapacity;
        Assert.Equal(fits, _ring.TryReserve(size));
        if (fits)
        {
            long rents = _pool.Rents;
            _reservedTo = _readPosition + _unread.Count + size;
            _ring.Write(NextBytes(size));
            Assert.Equal(rents, _pool.Rents);
            _ring.RewindTo(_readPosition + _unread.Count);
        }
    }

    private void Contiguous(int size)
    {
        bool there = size <= _unread.Count;
        Assert.Equal(there, _ring.TryGetContiguous(size, out ReadOnlySpan<byte> span));
        Assert.Equal(there ? [.. _unread[..size]] : Array.Empty<byte>(), span.ToArray());
    }

    private void Shrink()
    {
        int before = _ring.Capacity;
        long needed = Math.Max(_unread.Count, _reservedTo - _readPosition);
        bool expected = before > BitOperations.RoundUpToPowerOf2((uint)_minimum) && needed <= before / 4;
        Assert.Equal(expected, _ring.TryShrink());
        Assert.True(expected ? _ring.Capacity <= before / 2 && _ring.Capacity >= needed : _ring.Capacity == before);
        Shrinks += expected && _ring.Capacity > 0 ? 1 : 0;
    }

    private void Compare(RingOperation after)
    {
        byte[] expected = [.. _unread];
        _ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        WrappedSteps += second.IsEmpty ? 0 : 1;
        Assert.Equal(expected, (byte[])[.. first, .. second]);
        Assert.True(second.IsEmpty || !first.IsEmpty);
        Assert.True(first.SequenceEqual(_ring.FirstReadableSpan));
        Assert.True(first.SequenceEqual(_ring.FirstReadableMemory.Span));

        Assert.Equal((expected.Length, expected.Length == 0), (_ring.Length, _ring.IsEmpty));
        Assert.Equal((_readPosition, _readPosition + expected.Length), (_ring.ReadPosition, _ring.WritePosition));

        int offset = after.Part % (expected.Length + 1);
        int length = after.Size % (expected.Length - offset + 1);
        ReadOnlySequence<byte> sequence = _ring.GetReadableSequence(offset, length);
        Assert.Equal(expected[offset..(offset + length)], sequence.ToArray());
        Assert.Equal(length, sequence.Length);
        Assert.Equal(sequence.IsSingleSegment, _ring.TryGetReadableSpan(offset, length, out ReadOnlySpan<byte> span));
        Assert.Equal(sequence.IsSingleSegment ? expected[offset..(offset + length)] : [], span.ToArray());
        Assert.Equal(sequence.IsSingleSegment, _ring.TryGetReadableMemory(offset, length, out ReadOnlyMemory<byte> memory));
        Assert.Equal(span.ToArray(), memory.ToArray());
        byte[] copy = new byte[length];
        _ring.CopyTo(offset, copy);
        Assert.Equal(expected[offset..(offset + length)], copy);

        Assert.True(_ring.Capacity == 0 || (BitOperations.IsPow2(_ring.Capacity) && _ring.Capacity >= _minimum));
        Assert.True(_ring.Capacity <= BitOperations.RoundUpToPowerOf2((uint)_ring.MaximumCapacity));
        Assert.Equal(_ring.Capacity == 0 ? 0 : 1, _pool.Outstanding);
    }

    private byte[] NextBytes(int count)
    {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++)
        {
            bytes[i] = _next++;
        }

        return bytes;
    }
}
