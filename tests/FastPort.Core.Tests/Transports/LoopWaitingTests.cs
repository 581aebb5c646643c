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
        var told = new LoopWaiting(100, _time, maxSpinners: 1, _spinners);
        for (int i = 0; i < 20; i++)
        {
            Wait(first, Short);
            Wait(second, Short);
        }

        Assert.True(first.TryBegin());
        Assert.False(second.TryBegin());

        // Who was told to spin spins, and takes nobody's place.
        Assert.True(told.TryBegin());
        told.EndSpin();
        Assert.False(second.TryBegin());

        first.EndSpin();
        Assert.True(second.TryBegin());
        Assert.False(first.TryBegin());
        second.EndSpin();
    }

    [Fact]
    public void A_time_that_was_asked_for_is_obeyed()
    {
        var waiting = new LoopWaiting(100, _time, maxSpinners: 0, _spinners);

        Assert.True(waiting.TryBegin());
        _time.Advance(TimeSpan.FromMicroseconds(99));
        Assert.True(waiting.GoOn());
        _time.Advance(TimeSpan.FromMicroseconds(2));
        Assert.False(waiting.GoOn());
        Assert.True(Wait(waiting, Long));
        Assert.True(Wait(waiting, Long));
    }

    [Fact]
    public void Zero_never_spins() => Assert.False(new LoopWaiting(0, _time, maxSpinners: 4, _spinners).TryBegin());

    private LoopWaiting Adaptive(int spinners) => new(null, _time, spinners, _spinners);

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
