using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Reports;

public sealed class RatioReportTests
{
    [Fact]
    public void Takes_the_ratio_of_each_pair_of_runs_and_that_of_both_medians()
    {
        RatioReport ratio = Ask([10, 40, 30], [5, 10, 30]);

        Assert.Equal(new Spread(2, 1, 4), ratio.Pairwise);
        Assert.Equal(3, ratio.OfMedians);
    }

    [Fact]
    public void Takes_them_of_an_even_number_of_runs()
    {
        RatioReport ratio = Ask([10, 40, 30, 60], [10, 20, 10, 10]);

        Assert.Equal(new Spread(2.5, 1, 6), ratio.Pairwise);
        Assert.Equal(3.5, ratio.OfMedians);
    }

    [Theory]
    [InlineData(true, 1.9, true)]
    [InlineData(true, 2, true)]
    [InlineData(true, 2.1, false)]
    [InlineData(false, 1.9, false)]
    [InlineData(false, 2, true)]
    [InlineData(false, 2.1, true)]
    public void A_ratio_of_2_reaches_or_misses_a_target(bool atLeast, double target, bool reached) =>
        Assert.Equal(reached, Ask([20, 40, 60], [10, 20, 30], atLeast ? Target.AtLeast(target) : Target.AtMost(target)).Reached);

    [Theory]
    [InlineData(20, true)]
    [InlineData(21, false)]
    public void A_target_holds_for_the_median(double atLeast, bool reached)
    {
        RatioReport ratio = RatioReport.ToTarget(Metric.Tags, atLeast, Measured.Contestant("A", Metric.Tags, 10, 20, 40));

        Assert.Equal((reached, 20 / atLeast), (ratio.Reached, ratio.OfMedians));
        Assert.Equal(new Spread(20 / atLeast, 10 / atLeast, 40 / atLeast), ratio.Pairwise);
    }

    // The pairs' median is 2, the ratio of medians 3.
    [Theory]
    [InlineData(true, 2.5, false, true)]
    [InlineData(false, 2.5, true, true)]
    [InlineData(true, 1.5, true, false)]
    [InlineData(true, 3.5, false, false)]
    [InlineData(false, 1.5, false, false)]
    [InlineData(false, 3.5, true, false)]
    public void The_pairs_decide_and_medians_that_say_otherwise_are_a_dispute(bool atLeast, double target, bool reached, bool disputed)
    {
        RatioReport ratio = Ask([10, 40, 30], [5, 10, 30], atLeast ? Target.AtLeast(target) : Target.AtMost(target));

        Assert.Equal(reached, ratio.Reached);
        Assert.Equal(disputed, ratio.IsDisputed());
    }

    [Fact]
    public void Without_a_target_nothing_is_reached_or_missed()
    {
        RatioReport ratio = Ask([10, 40, 30], [5, 10, 30]);

        Assert.Null(ratio.Reached);
        Assert.False(ratio.IsDisputed());
    }

    [Fact]
    public void A_contestant_that_is_not_there_has_no_ratio()
    {
        ContestantReport[] alone = [Measured.Contestant("A", Metric.Throughput, 1, 2)];

        Assert.Empty(RatioReport.Create(new RatioQuestion(Metric.Throughput, "A", "B"), alone, hasOneClient: false));
        Assert.Empty(RatioReport.Create(new RatioQuestion(Metric.Throughput, "B", "A"), alone, hasOneClient: false));
    }

    [Fact]
    public void A_metric_that_one_run_lacks_has_neither_figures_nor_a_ratio()
    {
        Figures[] runs = [
            new() { [Metric.RoundTripP50] = 5, [Metric.Throughput] = 10 },
            new() { [Metric.RoundTripP50] = double.NaN, [Metric.Throughput] = 12 }];
        ContestantReport lacking = Measured.Contestant("A", runs);
        ContestantReport whole = Measured.Contestant("B", Metric.RoundTripP50, 1, 2);

        Assert.Equal([Metric.Throughput.Key], lacking.Figures.Keys);
        Assert.Empty(RatioReport.Create(new RatioQuestion(Metric.RoundTripP50, "A", "B"), [lacking, whole], hasOneClient: false));
        Assert.Empty(RatioReport.Create(new RatioQuestion(Metric.RoundTripP50, "B", "A"), [lacking, whole], hasOneClient: false));
    }

    [Fact]
    public void A_contestant_without_runs_has_no_figures() => Assert.Empty(Measured.Contestant("A", []).Figures);

    private static RatioReport Ask(double[] subject, double[] reference, Target? target = null) => Assert.Single(RatioReport.Create(
        new RatioQuestion(Metric.Throughput, "A", "B", target),
        [Measured.Contestant("B", Metric.Throughput, reference), Measured.Contestant("A", Metric.Throughput, subject)],
        hasOneClient: true));
}
