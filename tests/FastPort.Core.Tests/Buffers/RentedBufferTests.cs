using System.Buffers;
using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

public sealed class RentedBufferTests
{
    [Fact]
    public void Owns_a_copy_that_outlives_a_wrapped_sequence()
    {
        var pool = new TrackingArrayPool(surplus: 9);
        using var ring = new ArrayPoolCircularBuffer(8, 8);
        ring.Write([0, 0, 0, 0, 0, 1]);
        ring.Consume(5);
        ring.Write([2, 3, 4, 5]);
        ReadOnlySequence<byte> body = ring.GetReadableSequence(0, 5);
        Assert.False(body.IsSingleSegment);

        RentedBuffer buffer = RentedBuffer.CopyOf(body, pool);
        ring.Consume(5);
        ring.Write([9, 9, 9, 9, 9, 9, 9, 9]);
        Assert.Equal(5, buffer.Length);
        Assert.Equal([1, 2, 3, 4, 5], buffer.Span.ToArray());
        Assert.Equal([1, 2, 3, 4, 5], buffer.Memory.ToArray());
        buffer.Dispose();
        pool.AssertAllReturned();
    }

    [Fact]
    public void Returns_the_array_once_when_disposed_twice_and_refuses_use_afterwards()
    {
        var pool = new TrackingArrayPool();
        RentedBuffer buffer = RentedBuffer.CopyOf(new ReadOnlySequence<byte>([1, 2, 3]), pool);
        buffer.Dispose();
        buffer.Dispose();
        pool.AssertAllReturned();
        Assert.Equal(1, pool.Returns);
        Assert.Throws<ObjectDisposedException>(() => buffer.Length);
        Assert.Throws<ObjectDisposedException>(() => buffer.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => buffer.Memory.Length);
    }

    [Fact]
    public void Rents_nothing_for_no_bytes()
    {
        var pool = new TrackingArrayPool();
        using RentedBuffer buffer = RentedBuffer.CopyOf(ReadOnlySequence<byte>.Empty, pool);
        Assert.Equal((0, 0, 0L), (buffer.Length, buffer.Span.Length, pool.Rents));
        Assert.True(buffer.Memory.IsEmpty);
    }
}
