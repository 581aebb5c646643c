using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;
using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Scenarios;

public sealed class BridgeScenarioTests
{
    [Theory]
    [InlineData(6080, 110, 10, true, true, true)]
    [InlineData(6079, 110, 10, false, true, true)]
    [InlineData(6080, 110.1, 10, true, false, true)]
    [InlineData(6080, 110, 10.1, true, true, false)]
    public void The_limits_of_sessions_that_ask_the_same_hold_in_each_run(
        double rate, double reads, double oldest, bool isLoaded, bool isShared, bool isFresh)
    {
        Figures good = Run(6400, 90, 9);
        ContestantReport one = Measured.Contestant(OpcUaPeers.FastPortBridged, good, Run(rate, reads, oldest), good);

        Assert.Equal([isLoaded, isShared, isFresh], BridgeScenario.SharingLimitsOf([one]).Select(static limit => limit.Reached == true));
    }

    [Fact]
    public void They_say_nothing_where_the_run_has_failed() => Assert.Empty(BridgeScenario.SharingLimitsOf([]));

    private static Figures Run(double rate, double reads, double oldest) =>
        new() { [Metric.Throughput] = rate, [Metric.SourceReads] = reads, [Metric.OldestValue] = oldest };
}
