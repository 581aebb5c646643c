using Xunit;
using Xunit.Sdk;

namespace FastPort.Core.Tests.Buffers;

/// <summary>The pool that other tests rely on really finds what it is there to find.</summary>
public sealed class TrackingArrayPoolTests
{
    [Fact]
    public void Accepts_every_array_returned_once()
    {
        var pool = new TrackingArrayPool(surplus: 3);
        byte[] first = pool.Rent(10);
        byte[] second = pool.Rent(0);
        Assert.Equal(13, first.Length);
        Assert.Equal((2, 16L), (pool.Outstanding, pool.OutstandingBytes));

        pool.Return(first);
        pool.Return(second);

        pool.AssertAllReturned();
        Assert.Equal((2L, 2L, 16L), (pool.Rents, pool.Returns, pool.PeakOutstandingBytes));
    }

    [Fact]
    public void Finds_an_array_never_returned()
    {
        var pool = new TrackingArrayPool();
        pool.Rent(10);
        Assert.ThrowsAny<XunitException>(pool.AssertAllReturned);
    }

    [Fact]
    public void Throws_on_a_second_return_and_remembers_it()
    {
        var pool = new TrackingArrayPool();
        byte[] array = pool.Rent(10);
        pool.Return(array);
        Assert.Contains(
            "second time", Assert.Throws<InvalidOperationException>(() => pool.Return(array)).Message, StringComparison.Ordinal);
        Assert.ThrowsAny<XunitException>(pool.AssertAllReturned);
    }

    [Fact]
    public void Throws_on_a_foreign_array_and_remembers_it()
    {
        var pool = new TrackingArrayPool();
        Assert.Contains(
            "never rented", Assert.Throws<InvalidOperationException>(() => pool.Return(new byte[4])).Message, StringComparison.Ordinal);
        Assert.ThrowsAny<XunitException>(pool.AssertAllReturned);
    }

    [Fact]
    public void Finds_a_write_after_the_return()
    {
        var pool = new TrackingArrayPool();
        byte[] array = pool.Rent(10);
        pool.Return(array);
        Assert.All(array, value => Assert.Equal(TrackingArrayPool.ReturnedPattern, value));
        array[7] = 1;
        Assert.ThrowsAny<XunitException>(pool.AssertAllReturned);
    }

    [Fact]
    public void Counts_rents_and_returns_of_many_threads()
    {
        var pool = new TrackingArrayPool();
        Parallel.For(0, 1000, _ => pool.Return(pool.Rent(8)));
        pool.AssertAllReturned();
        Assert.Equal((1000L, 1000L), (pool.Rents, pool.Returns));
    }
}
