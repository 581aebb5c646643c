using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

/// <content>Sessions: their intervals, their ends, and reports that take their time.</content>
public sealed partial class LatencyStatsTests
{
    [Fact]
    public async Task A_session_ends_while_a_report_is_being_made()
    {
        // A loop ends it, and a report of thousands of sessions takes its time.
        using var clock = new HeldClock();
        var stats = new LatencyStats(LatencyRole.Server, time: clock);
        stats.ForSession(1).RecordHandled(9_000, 2_000, 5_000);
        stats.ForSession(2).RecordHandled(9_000, 2_000, 5_000);
        clock.HoldUtcNow();
        Task<LatencyReport> report = Task.Run(stats.CutInterval);
        await clock.IsHeld.InTimeAsync();

        LatencyScopeReport? ended = await Task.Run(() => stats.EndSession(2)).InTimeAsync();

        Assert.Equal(1, ended!.LifetimeCount);
        Assert.False(report.IsCompleted);
        clock.Release();
        Assert.Equal([1UL, 2UL], (await report.InTimeAsync()).Sessions.Select(static s => s.Key));
    }

    [Theory]
    [InlineData(3, 1)]
    [InlineData(1, 2)]
    public void What_a_session_does_last_is_told_once_also_if_it_ends_during_a_report(int call, ulong ending)
    {
        var clock = new CalledClock();
        var stats = new LatencyStats(LatencyRole.Server, time: clock);
        stats.ForSession(1).RecordHandled(9_000, 2_000, 5_000);
        stats.ForSession(2).RecordHandled(9_000, 2_000, 5_000);
        LatencySeries last = stats.ForSession(ending);

        // The third time of a report is the second session's. The first session has been read then; at the first time none has.
        int calls = 0;
        clock.OnElapsed = () =>
        {
            if (++calls == call)
            {
                last.RecordHandled(9_000, 2_000, 5_000);
                stats.EndSession(ending);
            }
        };
        LatencyReport[] reports = [stats.CutInterval(), stats.CutInterval(), stats.CutInterval()];

        Assert.Equal(2, reports.Sum(report => report.Sessions.Where(session => session.Key == ending).Sum(Count)));
        Assert.Equal([1UL, 2UL], reports[0].Sessions.Select(static session => session.Key).Order());
        Assert.DoesNotContain(reports[2].Sessions, session => session.Key == ending);

        static long Count(LatencyScopeReport session) => session.IntervalCount;
    }

    [Fact]
    public void A_session_is_reported_to_the_end_of_its_last_interval_and_its_messages_stay_in_the_totals()
    {
        var stats = Client();
        foreach (var session in new[] { 8UL, 9UL, 9UL })
        {
            stats.ForType(1).RecordRoundTrip(1_000, 100);
            stats.ForSession(session).RecordRoundTrip(1_000, 100);
        }

        Assert.Equal([9UL, 8UL], stats.Read().Sessions.Select(session => session.Key));

        var ended = stats.EndSession(9);

        Assert.Equal(2, ended!.LifetimeCount);
        Assert.Null(stats.EndSession(9));
        Assert.Equal([9UL, 8UL], stats.Read().Sessions.Select(session => session.Key));
        Assert.Equal([9UL, 8UL], stats.CutInterval().Sessions.Select(session => session.Key));
        Assert.Equal([8UL], stats.Read().Sessions.Select(session => session.Key));
        Assert.Equal(3, stats.Read().All.LifetimeCount);
    }

    [Fact]
    public void Ended_sessions_are_told_of_up_to_a_bound_and_forgotten_with_the_warm_up()
    {
        var stats = Client();
        stats.ForSession(1);
        stats.EndSession(1);
        for (var session = 2UL; session < EndedSessions.Max + 10; session++)
        {
            stats.ForSession(session).RecordRoundTrip(1_000);
            stats.EndSession(session);
        }

        // The last ones. One that did nothing is not worth a place.
        LatencyReport report = stats.Read();
        Assert.Equal(
            Enumerable.Range(10, EndedSessions.Max).Select(static key => (ulong)key), report.Sessions.Select(static one => one.Key));
        Assert.Equal(8, report.SessionsLeftOut);

        stats.StartMeasuring();

        Assert.Empty(stats.Read().Sessions);
        Assert.Equal(0, stats.Read().SessionsLeftOut);
    }

    [Fact]
    public void Sessions_that_are_left_out_are_those_of_the_interval()
    {
        var stats = Client();
        for (var session = 1UL; session <= EndedSessions.Max + 3; session++)
        {
            stats.ForSession(session).RecordRoundTrip(1_000);
            stats.EndSession(session);
        }

        Assert.Equal([3, 3, 0], ((LatencyReport[])[stats.Read(), stats.CutInterval(), stats.CutInterval()]).Select(r => r.SessionsLeftOut));
    }

    [Fact]
    public async Task Totals_do_not_wait_for_the_sessions_of_a_report()
    {
        var clock = new CalledClock();
        var stats = new LatencyStats(LatencyRole.Server, time: clock);
        stats.ForSession(1).RecordHandled(9_000, 2_000, 5_000);
        stats.ForType(1).RecordHandled(9_000, 2_000, 5_000);
        var held = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var go = new ManualResetEventSlim();
        int calls = 0;
        clock.OnElapsed = () =>
        {
            // The first time of a report is the first session's.
            if (Interlocked.Increment(ref calls) == 1)
            {
                held.SetResult();
                go.Wait(Patience.Limit);
            }
        };
        Task<LatencyReport> report = Task.Run(stats.CutInterval);
        await held.Task.InTimeAsync();

        LatencyReport totals = await Task.Run(stats.ReadTotals).InTimeAsync();

        Assert.Equal((1, false), (totals.All.IntervalCount, report.IsCompleted));
        go.Set();
        Assert.Equal([1UL], (await report.InTimeAsync()).Sessions.Select(static s => s.Key));
    }

    // Calls the test whenever a time between two timestamps is calculated.
    private sealed class CalledClock : TimeProvider
    {
        public Action OnElapsed { get; set; } = static () => { };

        public override long TimestampFrequency
        {
            get
            {
                OnElapsed();
                return base.TimestampFrequency;
            }
        }
    }

    private sealed class HeldClock : TimeProvider, IDisposable
    {
        private readonly TaskCompletionSource _held = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly ManualResetEventSlim _go = new(initialState: true);

        public Task IsHeld => _held.Task;

        public void HoldUtcNow() => _go.Reset();

        public void Release() => _go.Set();

        public override DateTimeOffset GetUtcNow()
        {
            if (!_go.IsSet)
            {
                _held.TrySetResult();
                _go.Wait(Patience.Limit);
            }

            return DateTimeOffset.UnixEpoch;
        }

        public void Dispose() => _go.Dispose();
    }
}
