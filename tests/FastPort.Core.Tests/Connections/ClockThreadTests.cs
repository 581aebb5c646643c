using System.Globalization;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>Clocks tick in real time here: what is tested is that and where they tick, never when.</summary>
public sealed class ClockThreadTests
{
    [Fact]
    public async Task All_clocks_of_system_time_tick_on_one_thread_that_is_not_the_pools()
    {
        using var first = new Watched(new ConnectionClock());
        using var second = new Watched(new ConnectionClock(TimeProvider.System));

        await first.TicksAsync(2);
        await second.TicksAsync(2);

        Assert.Equal("FastPort clock", first.Thread!.Name);
        Assert.False(first.Thread.IsThreadPoolThread);
        Assert.Same(first.Thread, second.Thread);
    }

    [Fact]
    public async Task A_clock_that_was_disposed_ticks_no_more_and_the_others_go_on()
    {
        using var ended = new Watched(new ConnectionClock());
        using var other = new Watched(new ConnectionClock());
        await ended.TicksAsync(1);

        ended.Clock.Dispose();
        ended.Clock.Dispose();

        // The tick that had begun is over with the other's second.
        await other.TicksAsync(other.Ticks + 2);
        int ticks = ended.Ticks;
        await other.TicksAsync(other.Ticks + 2);
        Assert.Equal(ticks, ended.Ticks);
    }

    [Fact]
    public async Task A_call_after_an_endless_delay_holds_no_other_up()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Connection connection = (await server.SessionAsync()).Connection;
        var called = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        connection.PostAfter(TimeSpan.MaxValue, static _ => { }, null);
        connection.PostAfter(TimeSpan.FromMilliseconds(1), _ => called.SetResult(), null);

        await called.Task.InTimeAsync();
    }

    // Both are of the same thread, so a slow machine makes both slow.
    [Fact]
    public async Task Thirty_timers_one_after_the_other_take_fewer_than_thirty_ticks()
    {
        const int Timers = 30;
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Connection connection = (await server.SessionAsync()).Connection;
        using var clock = new Watched(new ConnectionClock());
        await clock.TicksAsync(1);
        int before = clock.Ticks;
        int called = 0;
        var all = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);

        Next(null);

        Assert.InRange(await all.Task.InTimeAsync(), 0, Timers / 2);

        void Next(object? _)
        {
            if (++called > Timers)
            {
                all.SetResult(clock.Ticks - before);
                return;
            }

            connection.PostAfter(TimeSpan.FromMilliseconds(1), Next, null);
        }
    }

    [LinuxTheory]
    [InlineData(10)]
    public async Task While_no_timer_is_set_the_thread_wakes_once_a_tick(int ticks)
    {
        string status = "";
        var thread = new ClockThread();
        using var clock = new Watched(new ConnectionClock(new FakeTimeProvider()));
        clock.Visited = () => status = $"/proc/{new FileInfo("/proc/thread-self").LinkTarget}/status";
        thread.Add(clock.Clock);
        await clock.TicksAsync(2);
        int before = clock.Ticks;
        long sleepsBefore = Sleeps();

        await clock.TicksAsync(before + ticks);

        // Another thread holds the lock now and then.
        Assert.InRange(Sleeps() - sleepsBefore, 1, 2 * ticks);
        thread.Remove(clock.Clock);

        long Sleeps() => long.Parse(
            File.ReadLines(status)
                .First(static line => line.StartsWith("voluntary_ctxt_switches:", StringComparison.Ordinal)).Split(':')[1],
            CultureInfo.InvariantCulture);
    }

    [Fact]
    public async Task The_thread_ends_with_its_last_clock_and_another_begins_with_the_next()
    {
        var thread = new ClockThread();
        Assert.False(thread.IsRunning);
        for (int round = 0; round < 3; round++)
        {
            using var first = new Watched(new ConnectionClock(new FakeTimeProvider()));
            using var second = new Watched(new ConnectionClock(new FakeTimeProvider()));
            thread.Add(first.Clock);
            thread.Add(second.Clock);
            await first.TicksAsync(1);

            thread.Remove(first.Clock);
            await second.TicksAsync(second.Ticks + 1);
            Assert.True(thread.IsRunning);
            thread.Remove(second.Clock);

            await Patience.UntilAsync(() => !thread.IsRunning, "the thread has ended");
        }
    }

    [Fact]
    public async Task A_call_that_comes_after_the_last_clock_has_gone_is_not_kept_for_the_next()
    {
        var thread = new ClockThread();
        bool called = false;
        using (var gone = new Watched(new ConnectionClock(new FakeTimeProvider())))
        {
            thread.Add(gone.Clock);
            thread.Remove(gone.Clock);
            await Patience.UntilAsync(() => !thread.IsRunning, "the thread has ended");
        }

        thread.PostAfter(TimeSpan.Zero, null, _ => called = true, null);

        using var next = new Watched(new ConnectionClock(new FakeTimeProvider()));
        thread.Add(next.Clock);
        await next.TicksAsync(2);
        thread.Remove(next.Clock);
        Assert.False(called);
    }

    [Fact]
    public async Task One_that_comes_while_the_thread_is_about_to_end_is_ticked()
    {
        var thread = new ClockThread();
        for (int round = 0; round < 2_000; round++)
        {
            using var gone = new Watched(new ConnectionClock(new FakeTimeProvider()));
            thread.Add(gone.Clock);
            thread.Remove(gone.Clock);
        }

        using var last = new Watched(new ConnectionClock(new FakeTimeProvider()));
        thread.Add(last.Clock);
        await last.TicksAsync(2);
        thread.Remove(last.Clock);
    }

    // A clock with a connection that counts its visits.
    private sealed class Watched : IDisposable
    {
        private int _ticks;

        public Watched(ConnectionClock clock)
        {
            Clock = clock;
            clock.Add(new FakeConnection(clock)
            {
                Visited = _ =>
                {
                    Thread = Thread.CurrentThread;
                    Visited?.Invoke();
                    Interlocked.Increment(ref _ticks);
                    return ConnectionClock.NextTick;
                },
            });
        }

        public ConnectionClock Clock { get; }

        public Thread? Thread { get; private set; }

        public Action? Visited { get; set; }

        public int Ticks => Volatile.Read(ref _ticks);

        public Task TicksAsync(int count) => Patience.UntilAsync(() => Ticks >= count, $"the clock has ticked {count} times");

        public void Dispose() => Clock.Dispose();
    }
}
