using System.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>Every place of the wrap, growth and the cap, giving memory back.</summary>
public sealed class ArrayPoolCircularBufferTests
{
    private static byte[] Bytes(int count, int from = 1) => [.. Enumerable.Range(from, count).Select(value => (byte)value)];

    public static TheoryData<int> SmallCapacities => [1, 2, 4, 8, 16];

    [Theory]
    [MemberData(nameof(SmallCapacities))]
    public void Reads_what_was_written_at_every_wrap_offset_and_length(int capacity)
    {
        var pool = new TrackingArrayPool(surplus: 3);
        for (int head = 0; head < capacity; head++)
        {
            for (int length = 0; length <= capacity; length++)
            {
                using var ring = new ArrayPoolCircularBuffer(capacity, capacity, pool);
                MoveHeadTo(ring, head, length);
                CheckEveryRange(ring, Bytes(length));
            }
        }

        pool.AssertAllReturned();
    }

    [Theory]
    [MemberData(nameof(SmallCapacities))]
    public void Hands_out_contiguous_regions_of_every_size_at_every_wrap_offset(int capacity)
    {
        foreach (int maximum in new[] { capacity, 4 * capacity })
        {
            var pool = new TrackingArrayPool(surplus: 3);
            for (int head = 0; head < capacity; head++)
            {
                for (int length = 0; length <= capacity; length++)
                {
                    for (int hint = 1; hint <= maximum - length; hint++)
                    {
                        using var ring = new ArrayPoolCircularBuffer(capacity, maximum, pool);
                        MoveHeadTo(ring, head, length);
                        Span<byte> region = ring.GetWritableSpan(hint);
                        Assert.True(region.Length >= hint);
                        Bytes(hint, from: length + 1).CopyTo(region);
                        ring.Advance(hint);
                        Assert.Equal(Bytes(length + hint), ring.GetReadableSequence(0, ring.Length).ToArray());
                    }
                }
            }

            pool.AssertAllReturned();
        }
    }

    [Fact]
    public void Rents_nothing_before_the_first_write()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(pool: pool);
        ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        Assert.True(first.IsEmpty && second.IsEmpty && ring.FirstReadableMemory.IsEmpty && ring.GetReadableSequence(0, 0).IsEmpty);
        ring.CopyTo(0, []);
        ring.Consume(0);
        ring.Write([]);
        ring.RewindTo(0);
        Assert.True(ring.TryReserve(0) && ring.TryReleaseWhenEmpty());
        Assert.False(ring.TryShrink());
        Assert.Equal(
            (0L, 0, 4096, 4 * 1024 * 1024),
            (pool.Rents, ring.Capacity, ArrayPoolCircularBuffer.DefaultMinimumCapacity, ring.MaximumCapacity));

        ring.Write([1]);
        Assert.Equal((1L, 4096), (pool.Rents, ring.Capacity));
    }

    [Fact]
    public void Uses_only_the_capacity_it_asked_for_of_a_longer_array()
    {
        using var ring = new ArrayPoolCircularBuffer(9, 64, new TrackingArrayPool(surplus: 5));
        Assert.Equal((16, 16), (ring.GetWritableSpan().Length, ring.Capacity));
    }

    [Fact]
    public void Gives_the_whole_array_in_one_piece_once_all_is_consumed()
    {
        using var ring = new ArrayPoolCircularBuffer(16, 16, new TrackingArrayPool());
        MoveHeadTo(ring, head: 11, length: 9);
        ring.Consume(9);
        Assert.Equal(16, ring.GetWritableSpan().Length);
    }

    [Fact]
    public void Keeps_a_region_valid_while_everything_before_it_is_consumed()
    {
        using var ring = new ArrayPoolCircularBuffer(16, 16, new TrackingArrayPool());
        ring.Write(Bytes(10));
        Memory<byte> region = ring.GetWritableMemory();
        ring.Consume(10);
        Bytes(4, from: 50).CopyTo(region);
        ring.Advance(4);
        Assert.Equal(Bytes(4, from: 50), ring.FirstReadableSpan);
    }

    [Fact]
    public void Fills_to_a_cap_that_is_no_power_of_two_and_not_a_byte_further()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(16, 100, pool);
        MoveHeadTo(ring, head: 7, length: 90);
        Assert.Equal(128, ring.Capacity);

        Assert.Equal(10, ring.GetWritableSpan(10).Length);
        Assert.False(ring.TryReserve(11));
        RingCapacityExceededException refused = Assert.Throws<RingCapacityExceededException>(() => ring.GetWritableSpan(11));
        Assert.Equal((11, 90, 100), (refused.RequestedBytes, refused.UnreadBytes, refused.MaximumCapacity));
        Assert.Contains(
            "11 bytes do not fit: the ring holds 90 unread bytes and its maximum capacity is 100",
            refused.Message,
            StringComparison.Ordinal);

        ring.Write(Bytes(10, from: 91));
        Assert.Throws<RingCapacityExceededException>(() => ring.Write([1]));
        Assert.Throws<RingCapacityExceededException>(() => ring.GetMemory());
        Assert.False(ring.TryReserve(int.MaxValue));
        Assert.Throws<RingCapacityExceededException>(() => ring.GetWritableSpan(int.MaxValue));
        CheckEveryRange(ring, Bytes(100));
    }

    [Fact]
    public void Moves_the_unread_bytes_rather_than_grow_where_a_half_full_ring_has_room()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(16, 64, pool);
        MoveHeadTo(ring, head: 6, length: 8);
        Assert.Equal(8, ring.GetWritableSpan(8).Length);
        Assert.Equal((1L, 16), (pool.Rents, ring.Capacity));
    }

    [Fact]
    public void Grows_rather_than_move_a_ring_that_is_mostly_full()
    {
        using var ring = new ArrayPoolCircularBuffer(16, 64, new TrackingArrayPool());
        MoveHeadTo(ring, head: 4, length: 11);
        Assert.True(ring.GetWritableSpan(4).Length >= 4);
        Assert.Equal(32, ring.Capacity);
    }

    [Fact]
    public void Reserves_the_size_asked_for_with_a_single_rent()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(16, 4096, pool);
        Assert.True(ring.TryReserve(1000));
        Assert.Equal((1L, 1024), (pool.Rents, ring.Capacity));
        Assert.Equal(1024, ring.GetWritableSpan(1000).Length);
    }

    [Fact]
    public void Falls_back_after_a_burst_without_losing_a_byte()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(16, 1024, pool);
        MoveHeadTo(ring, head: 250, length: 130);
        Assert.Equal(256, ring.Capacity);
        Assert.False(ring.TryShrink());

        ring.Consume(100);
        byte[] left = ring.GetReadableSequence(0, 30).ToArray();
        Assert.True(ring.TryShrink());
        Assert.Equal((64, 64L), (ring.Capacity, pool.OutstandingBytes));
        Assert.Equal(left, ring.FirstReadableSpan);

        ring.Consume(29);
        Assert.True(ring.TryShrink());
        Assert.False(ring.TryShrink());
        Assert.Equal(16, ring.Capacity);
        Assert.Equal(left.AsSpan(29), ring.FirstReadableSpan);
    }

    [Fact]
    public void An_empty_ring_holds_no_array_after_a_release_and_is_usable_again()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(16, 64, pool);
        ring.Write(Bytes(40));
        Assert.False(ring.TryReleaseWhenEmpty());
        ring.Consume(40);
        Assert.True(ring.TryReleaseWhenEmpty());
        Assert.Equal((0, 0, 40L), (ring.Capacity, pool.Outstanding, ring.WritePosition));
        ring.Write(Bytes(3));
        Assert.Equal(Bytes(3), ring.FirstReadableSpan);
        Assert.Equal((16, 40L), (ring.Capacity, ring.ReadPosition));
    }

    [Fact]
    public void Keeps_no_returned_array_alive_through_a_wrapped_sequence()
    {
        using var ring = new ArrayPoolCircularBuffer(16, 64, new TrackingArrayPool());
        MoveHeadTo(ring, head: 12, length: 9);
        ReadOnlySequence<byte> wrapped = ring.GetReadableSequence(0, 9);
        var first = Assert.IsAssignableFrom<ReadOnlySequenceSegment<byte>>(wrapped.Start.GetObject());
        ReadOnlySequenceSegment<byte> second = first.Next!;
        Assert.Equal((4, 5), (first.Memory.Length, second.Memory.Length));

        ring.Consume(9);
        Assert.True(ring.TryReleaseWhenEmpty());
        Assert.True(first.Memory.IsEmpty && second.Memory.IsEmpty);
    }

    [Fact]
    public void Stays_as_it_was_when_the_pool_throws()
    {
        var pool = new TrackingArrayPool();
        var ring = new ArrayPoolCircularBuffer(16, 64, pool);
        MoveHeadTo(ring, head: 9, length: 14);
        pool.FailRents();
        Assert.Throws<RentRefusedException>(() => ring.Write(Bytes(10)));
        Assert.Throws<RentRefusedException>(() => ring.TryReserve(10));
        CheckEveryRange(ring, Bytes(14));
        ring.Dispose();
        pool.AssertAllReturned();
    }

    [Fact]
    public void Rewinds_a_message_that_failed()
    {
        using var ring = new ArrayPoolCircularBuffer(8, 64, new TrackingArrayPool());
        ring.Write(Bytes(5));
        long message = ring.WritePosition;
        ring.Write(Bytes(30));
        ring.RewindTo(message);
        Assert.Equal(Bytes(5), ring.GetReadableSequence(0, ring.Length).ToArray());
    }

    [Fact]
    public void Reads_and_writes_across_the_wrap_without_allocating()
    {
        using var ring = new ArrayPoolCircularBuffer(64, 64);
        byte[] message = Bytes(48);
        Assert.Equal(2_000 * 48, RoundTrips(ring, message, 2_000));
        long total = 0;
        Assert.Equal(0, Allocations.LeastOf(() => total = RoundTrips(ring, message, 2_000)));
        Assert.Equal(2_000 * 48, total);
    }

    private static long RoundTrips(ArrayPoolCircularBuffer ring, byte[] message, int count)
    {
        long total = 0;
        for (int i = 0; i < count; i++)
        {
            // 5 bytes stay behind, so that the ring never starts over and every place of the wrap comes up.
            ring.Write(message);
            foreach (ReadOnlyMemory<byte> segment in ring.GetReadableSequence(0, message.Length))
            {
                total += segment.Length;
            }

            ring.Consume(ring.Length - 5);
        }

        return total;
    }

    // Makes a new ring hold Bytes(length), the first of them at index head of the array.
    private static void MoveHeadTo(ArrayPoolCircularBuffer ring, int head, int length)
    {
        Assert.True(ring.TryReserve(Math.Max(length, head + 1)));
        ring.Write(new byte[head]);

        // A region stays where it is while all before it is consumed; a write into the then empty ring would start over at index 0.
        Span<byte> first = ring.GetWritableSpan();
        ring.Consume(head);
        byte[] bytes = Bytes(length);
        int inRegion = Math.Min(length, first.Length);
        bytes.AsSpan(0, inRegion).CopyTo(first);
        ring.Advance(inRegion);
        ring.Write(bytes.AsSpan(inRegion));
    }

    private static void CheckEveryRange(ArrayPoolCircularBuffer ring, byte[] expected)
    {
        Assert.Equal(expected.Length, ring.Length);
        for (int offset = 0; offset <= expected.Length; offset++)
        {
            for (int length = 0; length <= expected.Length - offset; length++)
            {
                byte[] copy = new byte[length];
                ring.CopyTo(offset, copy);
                Assert.True(expected.AsSpan(offset, length).SequenceEqual(copy));
                Assert.True(expected.AsSpan(offset, length).SequenceEqual(ring.GetReadableSequence(offset, length).ToArray()));
                Assert.Equal(
                    ring.GetReadableSequence(offset, length).IsSingleSegment,
                    ring.TryGetReadableSpan(offset, length, out ReadOnlySpan<byte> span));
                Assert.Equal(
                    ring.GetReadableSequence(offset, length).IsSingleSegment,
                    ring.TryGetReadableMemory(offset, length, out ReadOnlyMemory<byte> memory));
                Assert.True(span.SequenceEqual(memory.Span));
                Assert.True(span.IsEmpty || span.SequenceEqual(expected.AsSpan(offset, length)));
            }
        }
    }
}
