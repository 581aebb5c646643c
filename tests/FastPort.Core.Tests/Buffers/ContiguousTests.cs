using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>The oldest bytes as one span, wherever the wrap is.</summary>
public sealed class ContiguousTests
{
    private const int Capacity = 16;

    [Fact]
    public void They_come_in_one_piece_wherever_they_wrap()
    {
        for (int head = 0; head < Capacity; head++)
        {
            for (int length = 0; length <= Capacity; length++)
            {
                for (int count = 0; count <= length; count++)
                {
                    Check(head, length, count);
                }
            }
        }
    }

    [Fact]
    public void Fewer_than_asked_for_are_none()
    {
        using var ring = new ArrayPoolCircularBuffer(Capacity, Capacity);
        Assert.False(ring.TryGetContiguous(1, out ReadOnlySpan<byte> span));
        Assert.True(span.IsEmpty);
        ring.Write([1, 2]);

        Assert.False(ring.TryGetContiguous(3, out span));
        Assert.True(span.IsEmpty);
        Assert.True(ring.TryGetContiguous(2, out span));
        Assert.Equal([1, 2], span.ToArray());
        Assert.Throws<ArgumentOutOfRangeException>("count", () => ring.TryGetContiguous(-1, out _));
    }

    [Fact]
    public void What_does_not_wrap_is_not_moved()
    {
        var pool = new TrackingArrayPool();
        using var ring = new ArrayPoolCircularBuffer(Capacity, Capacity, pool);
        ring.Write(new byte[Capacity]);

        Assert.True(ring.TryGetContiguous(Capacity, out _));

        Assert.Equal(1, pool.Rents);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    [InlineData(11)]
    public void Bytes_shown_in_two_pieces_come_in_one(int first)
    {
        var pool = new TrackingArrayPool();
        byte[] bytes = [.. Enumerable.Range(1, 12).Select(static i => (byte)i)];
        using (var ring = new ArrayPoolCircularBuffer(8, 64, pool))
        {
            ring.Show(new ArraySegment<byte>(bytes, 0, first), bytes.AsMemory(first));

            Assert.True(ring.TryGetContiguous(bytes.Length, out ReadOnlySpan<byte> span));

            Assert.Equal(bytes, span.ToArray());
            ring.Consume(bytes.Length);
            ring.StopShowing();
        }

        pool.AssertAllReturned();
    }

    private static void Check(int head, int length, int count)
    {
        var pool = new TrackingArrayPool();
        using (var ring = new ArrayPoolCircularBuffer(Capacity, Capacity, pool))
        {
            // A region stays where it is while all before it is consumed.
            ring.Write(new byte[head]);
            byte[] bytes = [.. Enumerable.Range(1, length).Select(static i => (byte)i)];
            Span<byte> first = ring.GetWritableSpan();
            int inRegion = Math.Min(length, first.Length);
            ring.Consume(head);
            bytes.AsSpan(0, inRegion).CopyTo(first);
            ring.Advance(inRegion);
            ring.Write(bytes.AsSpan(inRegion));

            Assert.True(ring.TryGetContiguous(count, out ReadOnlySpan<byte> span));

            Assert.Equal(bytes[..count], span.ToArray());
            Assert.Equal(bytes, System.Buffers.BuffersExtensions.ToArray(ring.GetReadableSequence(0, length)));
            Assert.Equal((head, (long)head + length), (ring.ReadPosition, ring.WritePosition));
        }

        pool.AssertAllReturned();
    }
}
