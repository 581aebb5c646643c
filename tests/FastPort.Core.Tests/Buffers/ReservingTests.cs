using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

/// <summary>Room that was reserved stays until it is used.</summary>
public sealed class ReservingTests : IDisposable
{
    private readonly TrackingArrayPool _pool = new();
    private readonly ArrayPoolCircularBuffer _ring;

    public ReservingTests() => _ring = new ArrayPoolCircularBuffer(16, 4096, _pool);

    public void Dispose()
    {
        _ring.Dispose();
        _pool.AssertAllReturned();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    public void Neither_a_shrink_nor_a_wait_undoes_it(int unread)
    {
        _ring.Write(new byte[unread]);
        Assert.True(_ring.TryReserve(1000));
        long rents = _pool.Rents;

        for (int i = 0; i < 10; i++)
        {
            Assert.False(_ring.TryShrink());
            _ring.ReleaseWhenIdle();
            _ring.Write(new byte[100]);
        }

        Assert.Equal((rents, 1000 + unread), (_pool.Rents, _ring.Length));
    }

    [Fact]
    public void It_ends_when_it_is_used()
    {
        _ring.Write(new byte[10]);
        Assert.True(_ring.TryReserve(1000));
        _ring.Write(new byte[999]);
        _ring.Consume(1009);
        _ring.ReleaseWhenIdle();
        Assert.NotEqual(0, _ring.Capacity);

        _ring.Write(new byte[1]);
        _ring.Consume(1);
        _ring.ReleaseWhenIdle();

        Assert.Equal(0, _ring.Capacity);
    }

    [Fact]
    public void It_may_shrink_to_what_is_reserved()
    {
        Assert.True(_ring.TryReserve(4000));
        Assert.True(_ring.TryReserve(300));

        Assert.True(_ring.TryShrink());

        Assert.Equal(1024, _ring.Capacity);
    }

    [Fact]
    public void Nothing_reserved_and_a_release_give_it_up()
    {
        Assert.True(_ring.TryReserve(1000));
        Assert.True(_ring.TryReserve(0));
        _ring.ReleaseWhenIdle();
        Assert.Equal(0, _ring.Capacity);

        Assert.True(_ring.TryReserve(1000));
        Assert.True(_ring.TryReleaseWhenEmpty());
        _ring.Write([1]);
        Assert.Equal(16, _ring.Capacity);
        _ring.Consume(1);
        _ring.ReleaseWhenIdle();
        Assert.Equal(0, _ring.Capacity);
    }

    [Fact]
    public void A_refusal_leaves_what_was_reserved_before()
    {
        Assert.True(_ring.TryReserve(1000));
        Assert.False(_ring.TryReserve(4097));

        _ring.ReleaseWhenIdle();

        Assert.Equal(1024, _ring.Capacity);
    }

    [Fact]
    public void It_is_made_in_the_ring_where_the_next_bytes_will_lie()
    {
        using var next = new ArrayPoolCircularBuffer(16, 2000, _pool);
        _ring.Write(new byte[100]);
        _ring.ReserveIn(next);

        Assert.True(_ring.TryReserve(500));
        Assert.False(_ring.TryReserve(1901));
        Assert.False(_ring.TryReserve(int.MaxValue));

        Assert.Equal((128, 1024), (_ring.Capacity, next.Capacity));
    }
}
