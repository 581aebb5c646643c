using PeerSupport;
using Xunit;

namespace FastPort.Comparisons.Tests;

public sealed class MedianIntervalTests
{
    // Of 30 values the tenth from either end: a table of the sign test has the same.
    [Theory]
    [InlineData(1, 1, 1)]
    [InlineData(5, 1, 5)]
    [InlineData(10, 2, 9)]
    [InlineData(30, 10, 21)]
    public void It_lies_between_two_of_the_ordered_values(int count, double low, double high) =>
        Assert.Equal((low, high), MedianInterval.Of([.. Enumerable.Range(1, count).Reverse().Select(static i => (double)i)]));
}
