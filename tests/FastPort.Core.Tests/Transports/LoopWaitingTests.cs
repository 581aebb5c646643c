using FastPort.Core.Tests.Support;
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

        Assert.True(waiting.TryBegin());
        Assert.True(waiting.GoOn());
        _time.Advance(TimeSpan.FromMicroseconds(49));
        Assert.True(waiting.GoOn());
        _time.Advance(TimeSpan.FromMicroseconds(2));
        Assert.False(waiting.GoOn());
        waiting.EndSpin();
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

        Assert.True(first.TryBegin());
        Assert.False(second.TryBegin());

        first.EndSpin();
        Assert.True(second.TryBegin());
        Assert.False(first.TryBegin());
        second.EndSpin();
    }

    [Fact]
    public void Who_was_told_to_spin_is_never_refused_and_takes_a_place_of_those_that_were_not()
    {
        LoopWaiting first = Adaptive(spinners: 2);
        LoopWaiting second = Adaptive(spinners: 2);
        LoopWaiting[] told = [Told(100), Told(100), Told(100)];
        Steady(first, second);

        // The first of them leaves one place, the others none.
        Assert.True(told[0].TryBegin());
        Assert.True(first.TryBegin());
        Assert.False(second.TryBegin());
        Assert.True(told[1].TryBegin());
        Assert.True(told[2].TryBegin());
        first.EndSpin();
        Assert.False(first.TryBegin());

        // Each gives its place back, once.
        told[2].EndSpin();
        Assert.False(first.TryBegin());
        told[1].EndSpin();
        told[1].EndSpin();
        Assert.True(first.TryBegin());
        Assert.False(second.TryBegin());
        told[0].EndSpin();
        Assert.True(second.TryBegin());
        first.EndSpin();
        second.EndSpin();
    }

    [Fact]
    public void A_time_that_was_asked_for_is_obeyed()
    {
        LoopWaiting waiting = Told(100, spinners: 0);

        Assert.True(waiting.TryBegin());
        _time.Advance(TimeSpan.FromMicroseconds(99));
        Assert.True(waiting.GoOn());
        _time.Advance(TimeSpan.FromMicroseconds(2));
        Assert.False(waiting.GoOn());
        Assert.True(Wait(waiting, Long));
        Assert.True(Wait(waiting, Long));
    }

    [Fact]
    public void Zero_never_spins_and_takes_no_place()
    {
        LoopWaiting adaptive = Adaptive(spinners: 1);
        Steady(adaptive);

        Assert.False(Told(0).TryBegin());

        Assert.True(adaptive.TryBegin());
        adaptive.EndSpin();
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
        bool spins = waiting.TryBegin();
        _time.Advance(until);
        if (spins)
        {
            waiting.EndSpin();
        }

        waiting.Woken();
        return spins;
    }
}
