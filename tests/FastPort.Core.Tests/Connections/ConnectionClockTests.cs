using FastPort.Connections;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Connections;

public sealed class ConnectionClockTests : IDisposable
{
    private readonly FakeTimeProvider _time = new();
    private readonly ConnectionClock _clock;

    public ConnectionClockTests() => _clock = new ConnectionClock(_time);

    public void Dispose() => _clock.Dispose();

    [Fact]
    public void Visits_those_that_asked_and_those_whose_time_has_come()
    {
        FakeConnection quiet = Add(static _ => ConnectionClock.Never);
        FakeConnection busy = Add(static _ => ConnectionClock.NextTick);
        FakeConnection later = Add(static now => now + 250);

        _time.Advance(TimeSpan.FromMilliseconds(500));
        quiet.RequestTick();
        quiet.RequestTick();
        later.RequestTick();
        _time.Advance(TimeSpan.FromMilliseconds(500));

        Assert.Equal([100, 600], quiet.Visits);
        Assert.Equal([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000], busy.Visits);
        Assert.Equal([100, 400, 600, 900], later.Visits);
    }

    [Fact]
    public void Calls_once_after_the_delay()
    {
        List<(string, double)> calls = [];
        void Later(string name, int milliseconds, Action? then = null) => _clock.CallLater(TimeSpan.FromMilliseconds(milliseconds), () =>
        {
            calls.Add((name, _clock.PreciseMilliseconds));
            then?.Invoke();
        });

        Later("late", 450);
        Later("soon", 150, () => Later("again", 100));
        Later("now", 0);
        _time.Advance(TimeSpan.FromSeconds(2));

        Assert.Equal([("now", 0), ("soon", 150), ("again", 250), ("late", 450)], calls);
    }

    [Fact]
    public void A_late_tick_finds_all_that_has_become_due()
    {
        FakeConnection[] all = [.. Enumerable.Range(0, 300).Select(i => Add(now => now == 100 ? 200 + i : ConnectionClock.Never))];
        _time.Advance(TimeSpan.FromMilliseconds(100));

        _time.Leap(TimeSpan.FromMilliseconds(900));

        Assert.All(all, static c => Assert.Equal([100, 1_000], c.Visits));
    }

    [Fact]
    public void A_leap_counts_as_one_tick_and_nobody_is_judged_before_the_next()
    {
        FakeConnection due = Add(static now => now == 100 ? 200 : ConnectionClock.Never);
        FakeConnection later = Add(static now => now == 100 ? 1_000 : ConnectionClock.Never);
        _time.Advance(TimeSpan.FromMilliseconds(100));

        _time.Leap(TimeSpan.FromHours(1));

        Assert.Equal((200, 200), (_clock.NowMilliseconds, _clock.PreciseMilliseconds));
        Assert.Equal([100], due.Visits);
        _time.Advance(TimeSpan.FromMilliseconds(500));
        Assert.Equal([100, 200], due.Visits);
        Assert.Equal([100], later.Visits);
        _time.Advance(TimeSpan.FromMilliseconds(500));
        Assert.Equal(2, later.Visits.Count);
    }

    [Fact]
    public void A_process_that_hardly_runs_has_its_deadlines_all_the_same()
    {
        FakeConnection connection = Add(static now => now == 100 ? 1_000 : ConnectionClock.Never);
        _time.Advance(TimeSpan.FromMilliseconds(100));

        for (int i = 0; i < 20; i++)
        {
            _time.Leap(TimeSpan.FromMinutes(1));
        }

        Assert.Equal(2, connection.Visits.Count);
    }

    [Fact]
    public void What_is_asked_for_during_a_tick_is_for_the_next_one()
    {
        FakeConnection first = Add(static _ => ConnectionClock.Never);
        FakeConnection second = Add(static _ => ConnectionClock.Never);
        FakeConnection third = Add(static _ => ConnectionClock.Never);
        second.Visited = _ =>
        {
            if (second.Visits.Count == 1)
            {
                first.RequestTick();
                second.RequestTick();
                third.RequestTick();
            }

            return ConnectionClock.Never;
        };

        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.All([first, second, third], static c => Assert.Equal([100, 200], c.Visits));
    }

    [Fact]
    public void Who_has_left_is_not_visited_and_leaves_its_room_to_others()
    {
        FakeConnection[] stay = [.. Enumerable.Range(0, 100).Select(_ => Add(static _ => ConnectionClock.Never))];
        FakeConnection[] leave = [.. Enumerable.Range(0, 100).Select(_ => Add(static _ => ConnectionClock.NextTick))];
        _time.Advance(TimeSpan.FromMilliseconds(100));
        Array.ForEach(leave, _clock.Remove);
        Array.ForEach(leave, _clock.Remove);
        Array.ForEach(leave, static c => c.RequestTick());
        FakeConnection[] come = [.. leave.Select(_ => new FakeConnection(_clock) { Visited = static _ => ConnectionClock.Never })];

        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
        {
            Array.ForEach(come, _clock.Remove);
            Array.ForEach(come, _clock.Add);
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 50_000);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.All(stay.Concat(leave), static c => Assert.Equal([100], c.Visits));
        Assert.All(come, static c => Assert.Equal([200], c.Visits));
    }

    [Fact]
    public void Visits_whom_a_simple_model_visits()
    {
        const int Count = 200;
        Gen<(int What, int Who, int Milliseconds)[]> steps =
            Gen.Choose(0, 9).SelectMany(static _ => Gen.Choose(0, Count - 1), static (what, who) => (what, who))
                .SelectMany(static _ => Gen.Choose(100, 900), static (step, time) => (step.what, step.who, time)).ArrayOf(2_000);
        Check.One(
            Config.QuickThrowOnFailure,
            Prop.ForAll(steps.ToArbitrary(), list =>
            {
                var time = new FakeTimeProvider();
                using var clock = new ConnectionClock(time);
                long[] answers = new long[Count];
                FakeConnection[] all = [.. Enumerable.Range(0, Count).Select(i => new FakeConnection(clock) { Visited = _ => answers[i] })];
                Dictionary<int, long> due = [];
                foreach ((int what, int who, int milliseconds) in list)
                {
                    switch (what)
                    {
                        case <= 3:
                            if (due.TryAdd(who, 0))
                            {
                                clock.Add(all[who]);
                            }

                            break;
                        case 4:
                            due.Remove(who);
                            clock.Remove(all[who]);
                            break;
                        case <= 7:
                            all[who].RequestTick();
                            if (due.ContainsKey(who))
                            {
                                due[who] = 0;
                            }

                            break;
                        default:
                            // Each of them asks for another time from its next visit on.
                            for (int i = 0; i < Count; i++)
                            {
                                int next = (i * 7 + who) % 12;
                                answers[i] = next == 0 ? ConnectionClock.NextTick : next < 6
                                    ? ConnectionClock.Never
                                    : At(time) + milliseconds * next;
                            }

                            int[] before = [.. all.Select(static c => c.Visits.Count)];
                            time.Leap(TimeSpan.FromMilliseconds(milliseconds));
                            long now = At(time);
                            Assert.Equal(
                                due.Where(d => d.Value <= now).Select(static d => d.Key).Order(),
                                Enumerable.Range(0, Count).Where(i => all[i].Visits.Count != before[i]));
                            foreach (int i in due.Keys.Where(i => due[i] <= now).ToArray())
                            {
                                Assert.Equal((before[i] + 1, now), (all[i].Visits.Count, all[i].Visits[^1]));
                                due[i] = answers[i];
                            }

                            break;
                    }
                }
            }));

        static long At(TimeProvider time) => (long)time.GetElapsedTime(0).TotalMilliseconds;
    }

    [Fact]
    public async Task A_change_announced_while_the_clock_ticks_is_seen_at_the_next_tick_at_the_latest()
    {
        const int Rounds = 30_000;
        long changed = 0;
        long seen = 0;
        FakeConnection connection = Add(_ =>
        {
            seen = Volatile.Read(ref changed);
            return ConnectionClock.Never;
        });
        int begun = 0;
        int done = 0;
        Task changing = Task.Run(() =>
        {
            for (int round = 1; round <= Rounds; round++)
            {
                SpinWait.SpinUntil(() => Volatile.Read(ref begun) == round);
                Volatile.Write(ref changed, round);
                connection.RequestTick();
                Volatile.Write(ref done, round);
            }
        });
        for (int round = 1; round <= Rounds; round++)
        {
            // Requested already, so that the other thread may find that there is nothing to do.
            connection.RequestTick();
            Volatile.Write(ref begun, round);
            _time.Advance(ConnectionClock.Period);
            SpinWait.SpinUntil(() => Volatile.Read(ref done) == round);
            _time.Advance(ConnectionClock.Period);
            Assert.Equal(round, seen);
        }

        await changing;
    }

    [Fact]
    public async Task Connections_come_and_go_while_the_clock_ticks()
    {
        FakeConnection[] staying = [.. Enumerable.Range(0, 100).Select(_ => Add(static _ => ConnectionClock.NextTick))];
        int ticks = 0;
        Task[] threads = [.. Enumerable.Range(0, 2).Select(_ => Task.Run(() =>
        {
            FakeConnection[] passing = [
                .. Enumerable.Range(0, 100).Select(_ => new FakeConnection(_clock) { Visited = static _ => ConnectionClock.NextTick })];
            while (Volatile.Read(ref ticks) < 300)
            {
                Array.ForEach(passing, _clock.Add);
                Array.ForEach(passing, static c => c.RequestTick());
                Array.ForEach(passing, _clock.Remove);
            }
        }))];

        for (int tick = 1; tick <= 300; tick++)
        {
            _time.Advance(ConnectionClock.Period);
            Volatile.Write(ref ticks, tick);
        }

        await Task.WhenAll(threads);
        Assert.All(staying, static c => Assert.Equal(300, c.Visits.Count));
    }

    private FakeConnection Add(Func<long, long> visited)
    {
        var connection = new FakeConnection(_clock) { Visited = visited };
        _clock.Add(connection);
        return connection;
    }
}
