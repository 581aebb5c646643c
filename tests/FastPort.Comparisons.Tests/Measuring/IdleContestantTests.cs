using FastPort.Comparisons.Measuring;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

public sealed class IdleContestantTests
{
    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("{}")]
    [InlineData("out of memory")]
    public void What_is_no_result_is_a_failure_of_the_contestant_and_not_of_the_run(string output) =>
        Assert.Contains(
            $"printed no result but: {output}", Assert.Throws<ComparisonException>(() => IdleContestant.Read(output)).Message,
            StringComparison.Ordinal);
}
