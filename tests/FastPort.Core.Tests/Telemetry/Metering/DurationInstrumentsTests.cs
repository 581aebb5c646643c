using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Metering;

/// <summary>Latencies as a collector of the meter sees them.</summary>
public sealed class DurationInstrumentsTests
{
    private readonly FakeClock _clock = new();

    [Fact]
    public void A_type_has_number_sum_and_percentiles_of_its_three_latencies()
    {
        var stats = new LatencyStats(LatencyRole.Server, typeName: static _ => "Echo", time: _clock);
        using var meter = new CollectedMeter(stats);
        stats.ForType(7).RecordHandled(2_500_000, 500_000, 1_000_000);
        stats.ForType(7).RecordHandled(4_500_000, 700_000, 3_000_000);

        Dictionary<string, double> all = meter.Collect();

        Assert.Equal(2, all["fastport.request.duration.count message.type=Echo"]);
        Assert.Equal(0.007, all["fastport.request.duration.sum message.type=Echo"], 9);
        Assert.Equal(0.0025, all["fastport.request.duration.quantile message.type=Echo quantile=0.5"], 9);
        Assert.Equal(0.0045, all["fastport.request.duration.quantile message.type=Echo quantile=max"], 9);
        Assert.Equal(0.0012, all["fastport.request.queue.duration.sum message.type=Echo"], 9);
        Assert.Equal(0.004, all["fastport.request.handler.duration.sum message.type=Echo"], 9);
        Assert.Equal(
            ["0.5", "0.9", "0.99", "0.999", "max"],
            all.Keys.Where(static key => key.StartsWith("fastport.request.handler.duration.quantile", StringComparison.Ordinal))
                .Select(static key => key[(key.LastIndexOf('=') + 1)..]).Order(StringComparer.Ordinal));
        Assert.Equal(3 * 7, all.Count);
    }

    [Fact]
    public void A_client_has_its_own_names()
    {
        var stats = new LatencyStats(LatencyRole.Client, typeName: static _ => "Echo", time: _clock);
        using var meter = new CollectedMeter(stats);
        stats.ForType(7).RecordRoundTrip(2_500_000, 500_000);

        Dictionary<string, double> all = meter.Collect();

        Assert.Equal(0.0025, all["fastport.client.request.duration.sum message.type=Echo"], 9);
        Assert.Equal(0.0005, all["fastport.client.request.server.duration.sum message.type=Echo"], 9);
        Assert.Equal(0.002, all["fastport.client.request.network.duration.sum message.type=Echo"], 9);
    }

    [Fact]
    public void Operations_of_the_application_are_published()
    {
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        using var meter = new CollectedMeter(stats);
        stats.ForOperation("line1 Read").RecordCall(1_000_000);

        Dictionary<string, double> all = meter.Collect();

        Assert.Equal(1, all["fastport.operation.duration.count operation=line1 Read"]);
        Assert.Equal(0.001, all["fastport.operation.duration.quantile operation=line1 Read quantile=0.99"], 9);
    }

    [Fact]
    public void Percentiles_are_those_of_the_last_minute_whoever_collects()
    {
        const string Median = "fastport.request.duration.quantile message.type=0x0007 quantile=0.5";
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        using var meter = new CollectedMeter(stats);
        using var other = new CollectedMeter(stats);
        LatencySeries series = stats.ForType(7);
        for (int i = 0; i < 100; i++)
        {
            series.RecordHandled(1_000_000, 1, 1);
        }

        Assert.Equal(0.001, meter.Collect()[Median], 9);
        Advance(seconds: 59);
        series.RecordHandled(9_000_000, 1, 1);
        Assert.Equal(0.001, meter.Collect()[Median], 9);

        // The first hundred are older than the window now, although this meter has been read in between.
        Advance(seconds: 16);
        Assert.Equal(0.009, meter.Collect()[Median], 0.00001);

        // A collector beside it does not change what it sees, and nothing is told of a minute without messages.
        Advance(seconds: 61);
        Assert.DoesNotContain(Median, meter.Collect().Keys);
        Assert.Equal(101, meter.Collect()["fastport.request.duration.count message.type=0x0007"]);

        void Advance(int seconds)
        {
            for (int i = 0; i < seconds; i++)
            {
                _clock.Advance(TimeSpan.FromSeconds(1));
                meter.Collect();
                other.Collect();
            }
        }
    }

    [Theory]
    [InlineData(60, true)]
    [InlineData(61, false)]
    public void The_first_collection_has_the_percentiles_of_a_lifetime_only_if_that_is_a_minute_at_most(int seconds, bool isTold)
    {
        const string Median = "fastport.request.duration.quantile message.type=0x0007 quantile=0.5";
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        using var meter = new CollectedMeter(stats);
        for (int i = 0; i < 100; i++)
        {
            stats.ForType(7).RecordHandled(1_000_000, 1, 1);
        }

        _clock.Advance(TimeSpan.FromSeconds(seconds));
        Dictionary<string, double> first = meter.Collect();
        Assert.Equal(100, first["fastport.request.duration.count message.type=0x0007"]);
        Assert.Equal(isTold, first.ContainsKey(Median));

        // A type that comes later is told from its first message on.
        stats.ForType(7).RecordHandled(9_000_000, 1, 1);
        stats.ForType(8).RecordHandled(5_000_000, 1, 1);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Dictionary<string, double> second = meter.Collect();
        Assert.Equal(isTold ? 0.001 : 0.009, second[Median], 0.00001);
        Assert.Equal(0.005, second[Median.Replace('7', '8')], 0.00001);
    }

    [Fact]
    public void Instruments_of_one_collection_share_one_report()
    {
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        using var meter = new CollectedMeter(stats);
        LatencySeries series = stats.ForType(7);
        series.RecordHandled(1_000_000, 1, 1);
        Assert.Equal(1, Count());
        series.RecordHandled(1_000_000, 1, 1);
        Assert.Equal(1, Count());
        _clock.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(2, Count());

        double Count() => meter.Collect()["fastport.request.duration.count message.type=0x0007"];
    }

    [Fact]
    public void Recording_allocates_nothing_with_a_listener_as_without()
    {
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        LatencySeries series = stats.ForType(7);
        using var meter = new CollectedMeter(stats);
        series.RecordHandled(3_000, 1_000, 2_000);
        meter.Collect();
        series.RecordHandled(3_000, 1_000, 2_000);

        Assert.Equal(0, Allocations.LeastOf(() =>
        {
            for (var i = 0; i < 10_000; i++)
            {
                series.RecordHandled(3_000, 1_000, 2_000);
            }
        }));
    }
}
