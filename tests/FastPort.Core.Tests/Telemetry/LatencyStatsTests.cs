using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed partial class LatencyStatsTests
{
    private readonly FakeClock _clock = new();

    [Fact]
    public void A_round_trip_is_split_into_server_and_network_time()
    {
        var stats = Client();
        stats.ForType(0x100).RecordRoundTrip(50_000, 12_000);

        var all = stats.Read().All;

        Assert.Equal(["round_trip", "server", "network"], all.Metrics.Select(metric => metric.Metric.Name));
        Assert.Equal([50_000L, 12_000L, 38_000L], all.Metrics.Select(metric => metric.Lifetime.Max));
    }

    [Fact]
    public void A_reply_without_timing_block_counts_as_a_round_trip_alone()
    {
        var stats = Client(maxSamples: 10);
        stats.ForType(0x100).RecordRoundTrip(50_000);
        stats.ForType(0x100).RecordRoundTrip(30_000, 10_000);

        var report = stats.Read();

        Assert.Equal([2L, 1L, 1L], report.All.Metrics.Select(metric => metric.Lifetime.Count));
        Assert.Equal([2L, 1L, 1L], report.Recent!.Metrics.Select(metric => metric.Count));
    }

    [Fact]
    public void A_handled_message_has_its_three_server_times()
    {
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        stats.ForType(7).RecordHandled(9_000, 2_000, 5_000);

        var metrics = Assert.Single(stats.Read().Types).Metrics;

        Assert.Equal(["decode_to_send", "queue", "handler"], metrics.Select(metric => metric.Metric.Name));
        Assert.Equal([9_000L, 2_000L, 5_000L], metrics.Select(metric => metric.Interval.Max));
    }

    [Fact]
    public void A_name_that_another_type_has_gets_the_number_behind_it()
    {
        var stats = new LatencyStats(LatencyRole.Server, typeName: static type => type == 4 ? "all" : "Echo", time: _clock);
        foreach (ushort type in (ushort[])[0x100, 0x1001, 4])
        {
            stats.ForType(type).RecordHandled(9_000, 2_000, 5_000);
        }

        LatencyReport report = stats.Read();

        Assert.Equal(["all (0x0004)", "Echo", "Echo (0x1001)"], report.Types.Select(static type => type.Name));
        Assert.Equal(["all", "all (0x0004)", "Echo", "Echo (0x1001)"], report.Scopes.Select(static scope => scope.Name));
        Assert.Same(stats.ForType(0x1001), stats.ForType(0x1001));
    }

    [Fact]
    public void The_time_of_reports_ends_with_the_measured_time_and_late_replies_still_count()
    {
        var stats = Client();
        stats.ForSession(1);
        stats.ForType(0x100).RecordRoundTrip(50_000);
        _clock.Advance(TimeSpan.FromSeconds(2));
        stats.SampleTimeline();
        stats.StopMeasuring();
        _clock.Advance(TimeSpan.FromSeconds(3));
        stats.SampleTimeline();
        stats.ForType(0x100).RecordRoundTrip(60_000);
        stats.ForSession(1).RecordRoundTrip(60_000);
        stats.ForSession(2).RecordRoundTrip(60_000);
        stats.StopMeasuring();

        LatencyReport report = stats.CutInterval();

        Assert.Equal((2, TimeSpan.FromSeconds(2), 1.0), (report.All.LifetimeCount, report.All.Lifetime, report.All.LifetimeRate));
        Assert.Equal([2.0, 0.0], report.Sessions.Select(static session => session.Lifetime.TotalSeconds));
        Assert.Equal((2, TimeSpan.FromSeconds(2)), (Assert.Single(report.Timeline).Latencies.Count, report.Timeline[0].Length));

        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.Zero, stats.CutInterval().All.Interval);
        stats.StartMeasuring();
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.FromSeconds(1), stats.Read().All.Lifetime);
    }

    [Fact]
    public void Recording_for_the_other_role_is_refused()
    {
        var client = Client().ForType(1);
        var server = new LatencyStats(LatencyRole.Server).ForType(1);

        Assert.Throws<InvalidOperationException>(() => client.RecordHandled(1, 1, 1));
        Assert.Throws<InvalidOperationException>(() => server.RecordRoundTrip(1));
        Assert.Throws<InvalidOperationException>(() => server.RecordRoundTrip(1, 1));
    }

    [Fact]
    public void Calls_are_recorded_for_operations_alone()
    {
        var stats = Client();

        var e = Assert.Throws<InvalidOperationException>(() => stats.ForType(1).RecordCall(1));
        Assert.Throws<InvalidOperationException>(() => stats.ForOperation("line1 Read").RecordRoundTrip(1));

        Assert.StartsWith(
            "The series '0x0001' of this client measures round_trip, server, network; call cannot be recorded in it.",
            e.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Operations_are_apart_from_messages_and_have_their_own_intervals()
    {
        var stats = Client();
        stats.ForOperation("b").RecordCall(3_000);
        stats.ForOperation("a").RecordCall(1_000);
        stats.ForOperation("c");
        _clock.Advance(TimeSpan.FromSeconds(2));

        var report = stats.CutInterval();

        Assert.Same(stats.ForOperation("a"), stats.ForOperation("a"));
        Assert.Equal(["a", "b"], report.Operations.Select(operation => operation.Name));
        Assert.Equal((1, 0.5, 3_000), (report.Operations[1].IntervalCount, report.Operations[1].IntervalRate,
            Assert.Single(report.Operations[1].Metrics).Interval.Max));
        Assert.Equal(0, report.All.LifetimeCount);
        Assert.Equal([LatencyScope.All], report.Scopes.Select(scope => scope.Scope));
        Assert.Equal([(0, 1), (0, 1)], stats.ReadTotals().Operations.Select(o => ((int)o.IntervalCount, (int)o.LifetimeCount)));
    }

    [Fact]
    public void Totals_and_timeline_call_no_count()
    {
        var stats = Client();
        int calls = 0;
        stats.AddCount("a", "read", () => calls++);
        int before = calls;
        stats.ReadTotals();
        _clock.Advance(TimeSpan.FromSeconds(1));
        stats.SampleTimeline();

        Assert.Equal(before, calls);
    }

    [Fact]
    public void Counts_are_those_of_the_period_and_counts_of_one_name_are_added_up()
    {
        var stats = Client();
        long first = 10, second = 20;
        stats.AddCount("a", "read", () => first);
        stats.AddCount("b", "read", () => second);
        stats.AddCount("a", "read", () => second);
        first += 1;
        second += 2;
        var report = stats.CutInterval();
        first += 4;

        Assert.Equal([("a", 3), ("b", 2)], report.Counts.Select(count => (count.Owner, (int)count.Interval.Count)));
        Assert.Equal([(4, 7), (0, 2)], stats.Read().Counts.Select(c => ((int)c.Interval.Count, (int)c.Lifetime.Count)));
    }

    [Fact]
    public void The_figures_over_all_are_those_of_all_types_together()
    {
        var stats = Client();
        stats.ForType(2).RecordRoundTrip(1_000, 200);
        stats.ForType(1).RecordRoundTrip(3_000, 400);
        stats.ForType(1).RecordRoundTrip(5_000, 600);
        stats.ForType(3);

        var report = stats.Read();

        Assert.Equal([1UL, 2UL], report.Types.Select(type => type.Key));
        Assert.Equal(3, report.All.LifetimeCount);
        Assert.Equal(1_000, report.All.Metrics[0].Lifetime.Min);
        Assert.Equal(5_000, report.All.Metrics[0].Lifetime.Max);
        Assert.Equal(9_000, (long)report.All.Metrics[0].Lifetime.Sum);
        Assert.Equal([LatencyScope.All, LatencyScope.MessageType, LatencyScope.MessageType], report.Scopes.Select(scope => scope.Scope));
    }

    [Fact]
    public void The_same_type_has_the_same_series_named_by_the_lookup_or_by_number()
    {
        var stats = new LatencyStats(LatencyRole.Client, typeName: type => type == 0x100 ? "Echo" : null);

        Assert.Same(stats.ForType(0x100), stats.ForType(0x100));
        Assert.Equal("Echo", stats.ForType(0x100).Name);
        Assert.Equal("0x00AB", stats.ForType(0xAB).Name);
    }

    [Fact]
    public void Totals_leave_sessions_and_samples_out_and_cut_nothing()
    {
        var stats = Client(maxSamples: 10);
        stats.ForType(1).RecordRoundTrip(1_000);
        stats.ForSession(7).RecordRoundTrip(1_000);

        var totals = stats.ReadTotals();

        Assert.Equal((1, 1), (totals.All.LifetimeCount, Assert.Single(totals.Types).LifetimeCount));
        Assert.Empty(totals.Sessions);
        Assert.Null(totals.Recent);
        Assert.Equal(1, stats.CutInterval().All.IntervalCount);
    }

    [Fact]
    public void Intervals_and_lifetime_have_their_counts_errors_lengths_and_rates()
    {
        var stats = Client();
        var series = stats.ForType(1);
        series.RecordRoundTrip(1_000);
        series.RecordRoundTrip(1_000);
        series.RecordError();
        _clock.Advance(TimeSpan.FromSeconds(2));
        var first = stats.CutInterval().All;
        series.RecordRoundTrip(9_000);
        stats.RecordError();
        _clock.Advance(TimeSpan.FromSeconds(4));
        stats.Read();
        var second = stats.CutInterval();

        Assert.Equal((2, 1, 1.0), (first.IntervalCount, first.IntervalErrors, first.IntervalRate));
        Assert.Equal(TimeSpan.FromSeconds(2), first.Interval);
        Assert.Equal((1, 1, 0.25), (second.All.IntervalCount, second.All.IntervalErrors, second.All.IntervalRate));
        Assert.Equal((3, 2, 0.5), (second.All.LifetimeCount, second.All.LifetimeErrors, second.All.LifetimeRate));
        Assert.Equal(TimeSpan.FromSeconds(6), second.All.Lifetime);
        Assert.Equal((0, 1), (second.Types[0].IntervalErrors, second.Types[0].LifetimeErrors));
        Assert.Equal(9_000, second.All.Metrics[0].Interval.Min);
        Assert.Equal(1_000, second.All.Metrics[0].Lifetime.Min);
    }

    [Fact]
    public void Rates_of_types_add_up_and_a_session_has_its_own_time()
    {
        var stats = Client();
        stats.ForType(1).RecordRoundTrip(1_000);
        _clock.Advance(TimeSpan.FromSeconds(6));
        stats.ForType(2).RecordRoundTrip(1_000);
        stats.ForSession(5).RecordRoundTrip(1_000);
        _clock.Advance(TimeSpan.FromSeconds(2));

        var report = stats.CutInterval();

        Assert.Equal([0.125, 0.125], report.Types.Select(type => type.LifetimeRate));
        Assert.Equal(0.25, report.All.LifetimeRate);
        Assert.Equal(0.5, Assert.Single(report.Sessions).IntervalRate);
    }

    [Fact]
    public void Measuring_begins_anew_after_the_warm_up()
    {
        var stats = Client(maxSamples: 100);
        var series = stats.ForType(1);
        series.RecordRoundTrip(90_000_000, 1);
        series.RecordError();
        stats.RecordError();
        var warmUp = 5L;
        stats.AddCount("a", "read", () => warmUp);
        stats.ForOperation("a Read").RecordCall(1_000);
        warmUp++;
        var started = _clock.GetUtcNow();
        _clock.Advance(TimeSpan.FromSeconds(2));
        stats.StartMeasuring();
        series.RecordRoundTrip(40_000, 10_000);
        _clock.Advance(TimeSpan.FromSeconds(10));

        var report = stats.CutInterval();

        Assert.Equal(started, report.Started);
        Assert.Equal(started.AddSeconds(2), report.MeasuringSince);
        Assert.Equal(TimeSpan.FromSeconds(10), report.All.Lifetime);
        Assert.Equal(TimeSpan.FromSeconds(10), report.All.Interval);
        Assert.Equal((1, 0, 0), (report.All.LifetimeCount, report.All.LifetimeErrors, report.All.IntervalErrors));
        Assert.Equal(40_000, report.All.Metrics[0].Lifetime.Max);
        Assert.Equal(1, report.Recent!.Count);
        Assert.Empty(report.Operations);
        Assert.Equal(new CountIncrease(0, null), Assert.Single(report.Counts).Lifetime);
    }

    [Fact]
    public void Recent_figures_are_exact_and_of_the_latest_samples_only()
    {
        var stats = Client(maxSamples: 100);
        for (var i = 1; i <= 1_000; i++)
        {
            stats.ForType(1).RecordRoundTrip(i * 1_009, 7);
            _clock.Advance(TimeSpan.FromMilliseconds(10));
        }

        var recent = stats.Read().Recent!;

        Assert.Equal(100, recent.Count);
        Assert.Equal(TimeSpan.FromMilliseconds(990), recent.Window);
        Assert.Equal(
            (901 * 1_009, 950 * 1_009, 999 * 1_009, 1_000 * 1_009),
            (recent.Metrics[0].Min, recent.Metrics[0].P50, recent.Metrics[0].P99, recent.Metrics[0].Max));
        Assert.Equal(7, recent.Metrics[1].P99);
    }

    [Fact]
    public void No_samples_are_kept_unless_asked_for()
    {
        var stats = Client();
        stats.ForType(1).RecordRoundTrip(1_000);

        Assert.Null(stats.Read().Recent);
    }

    [Fact]
    public async Task Reports_taken_while_many_threads_record_count_every_message_once()
    {
        var stats = new LatencyStats(LatencyRole.Server, maxSamplesInMemory: 100);
        const int PerWriter = 30_000;
        var writers = Task.WhenAll(Enumerable.Range(0, 4).Select(writer => Task.Run(() =>
        {
            for (var i = 0; i < PerWriter; i++)
            {
                stats.ForType((ushort)(i % 3)).RecordHandled(3_000, 1_000, 2_000);
            }
        })));
        var counted = 0L;
        while (!writers.IsCompleted)
        {
            var report = stats.CutInterval().All;
            counted += report.IntervalCount;
            Assert.Single(report.Metrics.Select(metric => metric.Interval.Count).Distinct());
        }

        await writers;
        counted += stats.CutInterval().All.IntervalCount;

        Assert.Equal(4 * PerWriter, counted);
        Assert.Equal(4 * PerWriter, stats.Read().All.LifetimeCount);
    }

    [Fact]
    public void Recording_allocates_nothing_once_warm()
    {
        var stats = new LatencyStats(LatencyRole.Server);
        var session = stats.ForSession(1);
        for (var i = 0; i < 100; i++)
        {
            _ = stats.ForType(1);
            session.RecordHandled(30_000, 10_000, 20_000);
            stats.ForOperation("line1 Read").RecordCall(30_000);
        }

        Assert.Equal(0, Allocations.LeastOf(() =>
        {
            for (var i = 0; i < 100_000; i++)
            {
                _ = stats.ForType(1);
                session.RecordHandled(30_000, 10_000, 20_000);
                stats.ForOperation("line1 Read").RecordCall(30_000);
            }
        }));
    }

    private LatencyStats Client(int maxSamples = 0) => new(LatencyRole.Client, maxSamples, time: _clock);
}
