using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

/// <summary>What is read of a load client's line.</summary>
public sealed class FiguresTests
{
    private const string Line =
        """
        {"messages":12800,"seconds":2,"messages_per_s":6400,"errors":0,"p50_us":300,"p95_us":400,"p99_us":500,"max_us":600,
        "client_cpu_s":0.64,"client_peak_rss_kb":2048,"server_cpu_s":0.128,"server_cpu_us_per_message":10,"server_peak_rss_kb":1024}
        """;

    [Fact]
    public void A_bridge_and_what_was_counted_behind_it_have_figures_of_their_own()
    {
        string line = Line.Replace(
            "}", ""","bridge_cpu_s":0.5,"source_reads":200,"oldest_value_ms":9.75,"missed":3}""", StringComparison.Ordinal);

        var figures = Figures.Of(LoadResult.Read(line));

        Assert.Equal(39.0625, figures[Metric.BridgeCpuPerMessage]);
        Assert.Equal(0.25, figures[Metric.BridgeCpuShare]);
        Assert.Equal(100, figures[Metric.SourceReads]);
        Assert.Equal(9.75, figures[Metric.OldestValue]);
        Assert.Equal(3, figures[Metric.MissedRequests]);
        Assert.All(figures.Values.Keys, static key => Assert.Contains(Metric.All, metric => metric.Key == key));
    }

    [Fact]
    public void Without_a_bridge_there_are_none_of_them()
    {
        var figures = Figures.Of(LoadResult.Read(Line));

        Assert.Equal((6400, 50), (figures[Metric.Throughput], figures[Metric.ClientCpuPerMessage]));
        Assert.DoesNotContain(
            figures.Values.Keys, static key => key.StartsWith("bridge", StringComparison.Ordinal) || key == Metric.SourceReads.Key
                || key == Metric.OldestValue.Key || key == Metric.MissedRequests.Key);
    }
}
