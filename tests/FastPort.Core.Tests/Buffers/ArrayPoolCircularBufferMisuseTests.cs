using System.Buffers;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>Misuse throws at once and changes nothing; a disposed ring refuses everything and has returned its array once.</summary>
public sealed class ArrayPoolCircularBufferMisuseTests : IDisposable
{
    private readonly TrackingArrayPool _pool = new();
    private readonly ArrayPoolCircularBuffer _ring;

    public ArrayPoolCircularBufferMisuseTests()
    {
        _ring = new ArrayPoolCircularBuffer(16, 64, _pool);
        _ring.Write([9, 9, 1, 2, 3]);
        _ring.Consume(2);
    }

    public static TheoryData<string, Action<ArrayPoolCircularBuffer>> UsesOfADisposedRing => new()
    {
        { nameof(ArrayPoolCircularBuffer.Length), ring => _ = ring.Length },
        { nameof(ArrayPoolCircularBuffer.IsEmpty), ring => _ = ring.IsEmpty },
        { nameof(ArrayPoolCircularBuffer.Capacity), ring => _ = ring.Capacity },
        { nameof(ArrayPoolCircularBuffer.ReadPosition), ring => _ = ring.ReadPosition },
        { nameof(ArrayPoolCircularBuffer.WritePosition), ring => _ = ring.WritePosition },
        { nameof(ArrayPoolCircularBuffer.FirstReadableSpan), ring => _ = ring.FirstReadableSpan },
        { nameof(ArrayPoolCircularBuffer.FirstReadableMemory), ring => _ = ring.FirstReadableMemory },
        { nameof(ArrayPoolCircularBuffer.GetReadableSpans), ring => ring.GetReadableSpans(out _, out _) },
        { nameof(ArrayPoolCircularBuffer.GetReadableSequence), ring => ring.GetReadableSequence(0, 0) },
        { nameof(ArrayPoolCircularBuffer.TryGetReadableSpan), ring => ring.TryGetReadableSpan(0, 0, out _) },
        { nameof(ArrayPoolCircularBuffer.TryGetReadableMemory), ring => ring.TryGetReadableMemory(0, 0, out _) },
        { nameof(ArrayPoolCircularBuffer.TryGetContiguous), ring => ring.TryGetContiguous(0, out _) },
        { nameof(ArrayPoolCircularBuffer.CopyTo), ring => ring.CopyTo(0, []) },
        { nameof(ArrayPoolCircularBuffer.Consume), ring => ring.Consume(0) },
        { nameof(ArrayPoolCircularBuffer.GetWritableSpan), ring => ring.GetWritableSpan() },
        { nameof(ArrayPoolCircularBuffer.GetWritableMemory), ring => ring.GetWritableMemory() },
        { nameof(ArrayPoolCircularBuffer.GetSpan), ring => ring.GetSpan() },
        { nameof(ArrayPoolCircularBuffer.GetMemory), ring => ring.GetMemory() },
        { nameof(ArrayPoolCircularBuffer.TryReserve), ring => ring.TryReserve(0) },
        { nameof(ArrayPoolCircularBuffer.Advance), ring => ring.Advance(0) },
        { nameof(ArrayPoolCircularBuffer.Write), ring => ring.Write([]) },
        { nameof(ArrayPoolCircularBuffer.RewindTo), ring => ring.RewindTo(0) },
        { nameof(ArrayPoolCircularBuffer.TryReleaseWhenEmpty), ring => ring.TryReleaseWhenEmpty() },
        { nameof(ArrayPoolCircularBuffer.TryShrink), ring => ring.TryShrink() },
    };

    public void Dispose()
    {
        _ring.Dispose();
        _pool.AssertAllReturned();
    }

    [Theory]
    [MemberData(nameof(UsesOfADisposedRing))]
    public void Throws_when_used_after_it_was_disposed(string member, Action<ArrayPoolCircularBuffer> use)
    {
        _ring.GetWritableSpan();
        _ring.Dispose();
        ObjectDisposedException thrown = Assert.Throws<ObjectDisposedException>(() => use(_ring));
        Assert.Equal((member, nameof(ArrayPoolCircularBuffer)), (member, thrown.ObjectName));
        Assert.Equal(0, _pool.Outstanding);
    }

    [Fact]
    public void Every_public_member_is_among_the_uses_of_a_disposed_ring()
    {
        string[] exempt = [nameof(ArrayPoolCircularBuffer.Dispose)];
        IEnumerable<string> members = typeof(ArrayPoolCircularBuffer).GetMembers()
            .Where(member => member.DeclaringType == typeof(ArrayPoolCircularBuffer) && member.Name is not ".ctor"
                && !member.Name.StartsWith("get_", StringComparison.Ordinal))
            .Where(member => member is not System.Reflection.FieldInfo)
            .Select(member => member.Name).Except(exempt, StringComparer.Ordinal);

        // Among them are also the connections' own.
        Assert.Empty(members.Except(UsesOfADisposedRing.Select(row => row.Data.Item1), StringComparer.Ordinal));
    }

    [Fact]
    public void Returns_the_array_once_when_disposed_twice()
    {
        _ring.Dispose();
        _ring.Dispose();
        Assert.Equal((1L, 1L), (_pool.Rents, _pool.Returns));
    }

    [Fact]
    public void Returns_nothing_when_disposed_without_an_array()
    {
        var ring = new ArrayPoolCircularBuffer(16, 64, _pool);
        ring.Dispose();
        Assert.Equal((1L, 0L), (_pool.Rents, _pool.Returns));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(4)]
    [InlineData(int.MaxValue)]
    [InlineData(int.MinValue)]
    public void Refuses_to_consume_past_the_end(int count)
    {
        Assert.Throws<ArgumentOutOfRangeException>(nameof(count), () => _ring.Consume(count));
        AssertUnchanged();
    }

    [Fact]
    public void Refuses_to_advance_without_a_region()
    {
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(1));
        _ring.Advance(0);
        AssertUnchanged();
    }

    [Fact]
    public void Refuses_to_advance_past_the_region()
    {
        int granted = _ring.GetWritableSpan().Length;
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(granted + 1));
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(int.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => _ring.Advance(-1));
        AssertUnchanged();

        _ring.Advance(granted - 1);
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(2));
        _ring.Advance(1);
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(1));
    }

    public static TheoryData<string, Action<ArrayPoolCircularBuffer>> WhatInvalidatesARegion => new()
    {
        { "write", ring => ring.Write([7]) },
        { "growth", ring => ring.TryReserve(40) },
        { "rewind", ring => ring.RewindTo(ring.WritePosition) },
        { "release", ring => { ring.Consume(ring.Length); ring.TryReleaseWhenEmpty(); } },
        { "shrink", ring => { ring.TryReserve(60); ring.TryReserve(0); ring.GetWritableSpan(); ring.TryShrink(); } },
        { "refused region", ring => { ring.Write([7]); Assert.Throws<RingCapacityExceededException>(() => ring.GetWritableSpan(64)); } },
    };

    [Theory]
    [MemberData(nameof(WhatInvalidatesARegion))]
    public void Refuses_to_advance_over_a_region_no_longer_valid(string what, Action<ArrayPoolCircularBuffer> invalidate)
    {
        Assert.NotEmpty(what);
        _ring.GetWritableSpan();
        invalidate(_ring);
        Assert.Throws<InvalidOperationException>(() => _ring.Advance(1));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    [InlineData(6)]
    [InlineData(long.MinValue)]
    [InlineData(long.MaxValue)]
    public void Refuses_to_rewind_to_what_is_not_unread(long position)
    {
        Assert.Throws<ArgumentOutOfRangeException>(nameof(position), () => _ring.RewindTo(position));
        AssertUnchanged();
    }

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(0, 4)]
    [InlineData(0, -1)]
    [InlineData(3, 1)]
    [InlineData(4, 0)]
    [InlineData(1, int.MaxValue)]
    [InlineData(int.MaxValue, 1)]
    public void Refuses_to_read_past_the_end(int offset, int length)
    {
        Assert.Throws<ArgumentOutOfRangeException>(nameof(offset), () => _ring.GetReadableSequence(offset, length));
        Assert.Throws<ArgumentOutOfRangeException>(nameof(offset), () => _ring.TryGetReadableSpan(offset, length, out _));
        Assert.Throws<ArgumentOutOfRangeException>(nameof(offset), () => _ring.TryGetReadableMemory(offset, length, out _));
        if (length is >= 0 and < 100)
        {
            Assert.Throws<ArgumentOutOfRangeException>(nameof(offset), () => _ring.CopyTo(offset, new byte[length]));
        }

        AssertUnchanged();
    }

    [Fact]
    public void Refuses_negative_sizes()
    {
        Assert.Throws<ArgumentOutOfRangeException>("sizeHint", () => _ring.GetWritableSpan(-1));
        Assert.Throws<ArgumentOutOfRangeException>("sizeHint", () => _ring.GetMemory(-1));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => _ring.TryReserve(-1));
        AssertUnchanged();
    }

    [Theory]
    [InlineData(0, 16, "minimumCapacity")]
    [InlineData(-1, 16, "minimumCapacity")]
    [InlineData(17, 16, "minimumCapacity")]
    [InlineData(1, 0, "maximumCapacity")]
    [InlineData(1, -1, "maximumCapacity")]
    [InlineData(1, (1 << 30) + 1, "maximumCapacity")]
    public void Refuses_capacities_outside_their_range(int minimum, int maximum, string parameter) =>
        Assert.Throws<ArgumentOutOfRangeException>(parameter, () => new ArrayPoolCircularBuffer(minimum, maximum));

    private void AssertUnchanged()
    {
        Assert.Equal((2L, 5L, 16), (_ring.ReadPosition, _ring.WritePosition, _ring.Capacity));
        Assert.Equal([1, 2, 3], _ring.FirstReadableSpan.ToArray());
    }
}
