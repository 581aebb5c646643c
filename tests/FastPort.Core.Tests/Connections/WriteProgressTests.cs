using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Connections;

public sealed class WriteProgressTests
{
    [Fact]
    public void Bytes_are_stuck_that_have_waited_for_the_timeout_however_long_nobody_looked_before()
    {
        var progress = new WriteProgress(TimeSpan.FromSeconds(1), minimumRate: 0);
        progress.Start(0);
        Assert.False(progress.IsStuck(100, sent: 0, pending: 0));
        Assert.False(progress.IsWaiting);

        Assert.False(progress.IsStuck(60_100, sent: 0, pending: 5));
        Assert.True(progress.IsWaiting);
        Assert.False(progress.IsStuck(60_900, sent: 0, pending: 5));
        Assert.True(progress.IsStuck(61_000, sent: 0, pending: 5));
    }

    [Fact]
    public void Whatever_is_sent_begins_the_time_anew()
    {
        var progress = new WriteProgress(TimeSpan.FromSeconds(1), minimumRate: 0);
        progress.Start(0);
        Assert.False(progress.IsStuck(100, sent: 0, pending: 5));
        Assert.False(progress.IsStuck(900, sent: 1, pending: 4));
        Assert.False(progress.IsStuck(1_800, sent: 1, pending: 4));
        Assert.True(progress.IsStuck(1_900, sent: 1, pending: 4));
    }

    [Fact]
    public void Less_than_the_minimum_rate_is_stuck_and_the_rate_itself_is_not()
    {
        var progress = new WriteProgress(TimeSpan.FromSeconds(10), minimumRate: 100);
        progress.Start(0);
        Assert.False(progress.IsStuck(100, sent: 0, pending: 100_000));

        // 1,000 bytes in 10 s are enough, and begin the time anew.
        Assert.False(progress.IsStuck(9_000, sent: 999, pending: 99_001));
        Assert.False(progress.IsStuck(9_900, sent: 1_000, pending: 99_000));
        Assert.False(progress.IsStuck(19_800, sent: 1_999, pending: 98_001));
        Assert.True(progress.IsStuck(19_900, sent: 1_999, pending: 98_001));
    }

    [Fact]
    public void Who_took_all_that_waited_is_not_slow_however_little_it_was()
    {
        var progress = new WriteProgress(TimeSpan.FromSeconds(10), minimumRate: 100);
        progress.Start(0);
        for (int second = 1; second < 100; second++)
        {
            // Ten bytes a second, the last ten of which wait at each look.
            Assert.False(progress.IsStuck(second * 1_000, sent: (second - 1) * 10, pending: 10));
        }
    }
}
