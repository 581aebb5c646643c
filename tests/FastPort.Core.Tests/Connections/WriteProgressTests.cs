using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Connections;

public sealed class WriteProgressTests
{
    [Fact]
    public void Bytes_are_stuck_that_have_waited_for_the_timeout_however_long_nobody_looked_before()
    {
        var progress = new WriteProgress(TimeSpan.FromSeconds(1));
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
        var progress = new WriteProgress(TimeSpan.FromSeconds(1));
        progress.Start(0);
        Assert.False(progress.IsStuck(100, sent: 0, pending: 5));
        Assert.False(progress.IsStuck(900, sent: 1, pending: 4));
        Assert.False(progress.IsStuck(1_800, sent: 1, pending: 4));
        Assert.True(progress.IsStuck(1_900, sent: 1, pending: 4));
    }
}
