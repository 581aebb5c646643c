using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class LoopWaitingTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMicroseconds(20);
    private static readonly TimeSpan Long = TimeSpan.FromMilliseconds(5);

    private readonly FakeTimeProvider _time = new();

    // Not the process's: loops of other tests spin meanwhile.
    private readonly LoopWaiting.Spinners _spinners = new();

    [Fact]
    public void Adaptive_spins_under_steady_load_only()
    {
        LoopWaiting waiting = Adaptive(spinners: 1);
        for (int i = 0; i < 8; i++)
        {
            Assert.False(Wait(waiting, Short), $"It spun after {i} short waits.");
        }

        Assert.True(Wait(waiting, Short));
        for (int i = 0; i < 20; i++)
        {
            Assert.True(Wait(waiting, Short));
        }

        // Nothing comes any more: after a few waits in vain it sleeps at once.
        int spun = 0;
        while (Wait(waiting, Long))
        {
            Assert.InRange(++spun, 1, 5);
        }

        Assert.False(Wait(waiting, Long));
    }

    [Fact]
    public void Adaptive_spins_no_longer_than_its_bound()
    {
        LoopWaiting waiting = Adaptive(spinners: 1);
        for (int i = 0; i < 20; i++)
        {
            Wait(waiting, Short);
        }

        int looks = 0;
        Assert.False(waiting.Spin(() =>
        {
            looks++;
            _time.Advance(TimeSpan.FromMicroseconds(looks == 1 ? 49 : 2));
            return false;
        }));
        Assert.Equal(2, looks);
    }

    [Fact]
    public void Where_one_core_is_all_there_is_nothing_spins()
    {
        LoopWaiting waiting = Adaptive(spinners: 0);
        for (int i = 0; i < 50; i++)
        {
            Assert.False(Wait(waiting, Short));
        }
    }

    [Fact]
    public void No_more_of_them_spin_at_the_same_time_than_may()
    {
        LoopWaiting first = Adaptive(spinners: 1);
        LoopWaiting second = Adaptive(spinners: 1);
        Steady(first, second);

        Assert.True(Spins(first, () => Assert.False(Spins(second))));
        Assert.True(Spins(second, () => Assert.False(Spins(first))));
    }

    [Fact]
    public void Who_was_told_to_spin_is_never_refused_and_takes_a_place_of_those_that_were_not()
    {
        LoopWaiting first = Adaptive(spinners: 2);
        LoopWaiting second = Adaptive(spinners: 2);
        LoopWaiting[] told = [Told(100), Told(100), Told(100)];
        Steady(first, second);

        // The first of them leaves one place, the others none; each gives its place back.
        Assert.True(Spins(told[0], () =>
        {
            Assert.True(Spins(first, () => Assert.False(Spins(second))));
            Assert.True(Spins(told[1], () =>
            {
                Assert.False(Spins(first));
                Assert.True(Spins(told[2], () => Assert.False(Spins(first))));
                Assert.False(Spins(first));
            }));
            Assert.True(Spins(first, () => Assert.False(Spins(second))));
        }));
        Assert.True(Spins(first, () => Assert.True(Spins(second))));
    }

    [Fact]
    public void A_time_that_was_asked_for_is_obeyed()
    {
        LoopWaiting waiting = Told(100, spinners: 0);

        int looks = 0;
        Assert.False(waiting.Spin(() =>
        {
            looks++;
            _time.Advance(TimeSpan.FromMicroseconds(looks == 1 ? 99 : 2));
            return false;
        }));
        Assert.Equal(2, looks);
        Assert.True(Wait(waiting, Long));
        Assert.True(Wait(waiting, Long));
    }

    [Fact]
    public void Zero_never_spins_and_takes_no_place()
    {
        LoopWaiting adaptive = Adaptive(spinners: 1);
        Steady(adaptive);

        Assert.False(Spins(Told(0)));

        Assert.True(Spins(adaptive));
    }

    private LoopWaiting Adaptive(int spinners) => new(null, _time, spinners, _spinners);

    private LoopWaiting Told(int microseconds, int spinners = 2) => new(microseconds, _time, spinners, _spinners);

    // So many short waits that each spins if it may.
    private void Steady(params LoopWaiting[] all)
    {
        for (int i = 0; i < 20; i++)
        {
            foreach (LoopWaiting each in all)
            {
                Wait(each, Short);
            }
        }
    }

    // One wait of a loop. Whether it spun.
    private bool Wait(LoopWaiting waiting, TimeSpan until)
    {
        bool spins = Spins(waiting, () => _time.Advance(until));
        if (!spins)
        {
            _time.Advance(until);
        }

        waiting.Woken();
        return spins;
    }

    // Whether it spins. There is work at the first look.
    private static bool Spins(LoopWaiting waiting, Action? meanwhile = null) => waiting.Spin(() =>
    {
        meanwhile?.Invoke();
        return true;
    });
}
