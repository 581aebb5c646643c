using FastPort.Comparisons.Reports;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class SpreadTests
{
    [Theory]
    [InlineData(new[] { 7.0 }, 7, 7, 7)]
    [InlineData(new[] { 9.0, 1, 4 }, 4, 1, 9)]
    [InlineData(new[] { 9.0, 1, 4, 6 }, 5, 1, 9)]
    [InlineData(new[] { 5.0, 100, 3, 4, -2 }, 4, -2, 100)]
    public void Median_is_the_middle_run_or_the_mean_of_the_middle_two(double[] runs, double median, double min, double max) =>
        Assert.Equal(new Spread(median, min, max), Spread.Of(runs));
}
