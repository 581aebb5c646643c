using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

/// <summary>The figures of a process that was cold when its load began.</summary>
public sealed class ColdMetricTests
{
    [Fact]
    public void The_first_seconds_are_shares_of_the_rate_at_the_end()
    {
        Figures figures = ColdMetric.Of(Run("50,160,300,180,190,210,200,200,190,210"));

        Assert.Equal((200, 0.25, 0.8), (figures[ColdMetric.Steady], figures[ColdMetric.First], figures[ColdMetric.Second]));
        Assert.All(figures.Values.Keys, static key => Assert.Contains(Metric.All, metric => metric.Key == key));
    }

    [Fact]
    public void A_short_run_is_held_against_its_last_second() =>
        Assert.Equal(0.5, ColdMetric.Of(Run("100,160,200"))[ColdMetric.First]);

    [Fact]
    public void A_run_without_an_end_has_no_figures() => Assert.Throws<ComparisonException>(() => ColdMetric.Of(Run("100,160")));

    private static LoadResult Run(string bySecond) => LoadResult.Read(
        $$"""
        {"messages":12800,"seconds":10,"messages_per_s":1280,"errors":0,"p50_us":300,"p95_us":400,"p99_us":500,"max_us":600,
        "client_cpu_s":0.64,"client_peak_rss_kb":2048,"server_cpu_s":0.128,"server_cpu_us_per_message":10,"server_peak_rss_kb":1024,
        "by_second":[{{bySecond}}]}
        """);
}
