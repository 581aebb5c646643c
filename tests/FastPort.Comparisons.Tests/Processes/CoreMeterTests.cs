using FastPort.Comparisons.Processes;
using Xunit;

namespace FastPort.Comparisons.Tests.Processes;

public sealed class CoreMeterTests
{
    // user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice, in ticks of 10 ms.
    private static readonly string[] Before =
    [
        "cpu  3000 30 600 900 30 3 90 12 0 0",
        "cpu0 1000 10 200 300 10 1 30 4 5 0",
        "cpu1 1000 10 200 300 10 1 30 4 5 0",
        "cpu10 1000 10 200 300 10 1 30 4 5 0",
        "intr 30815629 0 0 0",
    ];

    [Fact]
    public void Interrupts_and_stolen_time_are_time_that_a_core_did_not_have_and_idle_time_is_not()
    {
        CoreTime time = CoreMeter.Parse(Before, [0, 10]);

        Assert.Equal(2 * 12.45, time.Busy, 6);
        Assert.Equal(2 * 0.04, time.Stolen, 6);
    }

    [Fact]
    public void A_small_disturbance_is_seen_beside_a_load_whose_interrupts_count_as_its_own()
    {
        CoreTime before = CoreMeter.Parse(Before, [0]);

        // 2 s: the server's 1.9, of which 0.6 in softirq, and another program's 0.1.
        CoreTime after = CoreMeter.Parse(["cpu0 1040 10 300 300 10 1 90 4 5 0"], [0]);

        Assert.Equal(0.1, after.OthersSince(before, own: 1.9), 6);
    }

    [Theory]
    [InlineData(1.5)]
    [InlineData(2.0)]
    public void What_the_hypervisor_took_is_seen_whether_or_not_the_process_has_it_too(double own)
    {
        CoreTime before = CoreMeter.Parse(Before, [0]);
        CoreTime after = CoreMeter.Parse(["cpu0 1150 10 200 300 10 1 30 54 5 0"], [0]);

        Assert.Equal(0.5, after.OthersSince(before, own), 6);
    }

    [Fact]
    public void A_difference_below_zero_is_rounding()
    {
        CoreTime before = CoreMeter.Parse(Before, [0]);
        CoreTime after = CoreMeter.Parse(["cpu0 1199 10 200 300 10 1 30 4 5 0"], [0]);

        Assert.Equal(0, after.OthersSince(before, own: 2), 6);
    }
}
