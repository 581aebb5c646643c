using FastPort.Redis.Relaying;
using Xunit;

namespace FastPort.Redis.Tests.Relaying;

public sealed class PendingRelaysTests
{
    [Fact]
    public void A_relay_is_taken_once_and_a_late_confirmation_finds_no_later_relay_at_its_place()
    {
        var pending = new PendingRelays();
        PendingRelay first = pending.Add(deadline: 0);
        Assert.True(pending.TryTake(first.Correlation, out PendingRelay? taken));
        Assert.Same(first, taken);
        PendingRelay second = pending.Add(deadline: 0);

        Assert.False(pending.TryTake(first.Correlation, out _));
        Assert.True(pending.TryTake(second.Correlation, out _));
        Assert.Equal(0, pending.Count);
    }

    [Fact]
    public void Correlations_are_never_0_and_unique_however_many_wait()
    {
        var pending = new PendingRelays();
        PendingRelay[] all = [.. Enumerable.Range(0, 1000).Select(_ => pending.Add(deadline: 0))];

        Assert.Equal(1000, all.Select(static one => one.Correlation).Distinct().Count());
        Assert.DoesNotContain(all, static one => one.Correlation == 0);
        Assert.All(all.Reverse(), one => Assert.True(pending.TryTake(one.Correlation, out _)));
    }

    [Fact]
    public async Task What_the_condition_selects_is_completed_and_nothing_else()
    {
        var pending = new PendingRelays();
        PendingRelay early = pending.Add(deadline: 5);
        PendingRelay late = pending.Add(deadline: 9);
        Task<SendStatus> first = early.AsTask().AsTask();
        Task<SendStatus> second = late.AsTask().AsTask();
        pending.Complete(static one => one.Deadline <= 5, SendStatus.Unconfirmed);

        Assert.Equal(SendStatus.Unconfirmed, await first.InTimeAsync());
        Assert.False(second.IsCompleted);
        pending.Shorten(5);
        pending.Complete(static one => one.Deadline <= 5, SendStatus.Unconfirmed);
        Assert.Equal(SendStatus.Unconfirmed, await second.InTimeAsync());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(ulong.MaxValue)]
    [InlineData(0x7FFF_FFFF)]
    [InlineData(1)]
    public void A_correlation_that_nobody_has_given_finds_nothing(ulong correlation)
    {
        var pending = new PendingRelays();
        pending.Add(deadline: 0);

        Assert.False(pending.TryTake(correlation, out _));
        Assert.Null(pending.Find(correlation));
    }
}
