using FastPort.Tags.Serving;
using Xunit;

namespace FastPort.Tags.Tests;

public sealed class SourceFeedsTests
{
    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 1)]
    [InlineData(10, 10)]
    [InlineData(19, 10)]
    [InlineData(20, 20)]
    [InlineData(99, 50)]
    [InlineData(250, 200)]
    [InlineData(1000, 1000)]
    [InlineData(86_400_000, 50_000_000)]
    public void Intervals_share_feeds_in_steps(int interval, int feed) =>
        Assert.Equal(TimeSpan.FromMilliseconds(feed), SourceFeeds.StepOf(TimeSpan.FromMilliseconds(interval)));
}
