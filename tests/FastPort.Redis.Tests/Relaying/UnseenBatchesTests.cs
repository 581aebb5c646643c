using FastPort.Redis.Relaying;
using Xunit;

namespace FastPort.Redis.Tests.Relaying;

public sealed class UnseenBatchesTests
{
    private static readonly BatchContent Relay = new(Relays: 1, OneWays: 0, Publications: 0, Interests: 0);

    [Fact]
    public void What_was_seen_is_done_and_the_rest_is_given_up()
    {
        UnseenBatches unseen = Sent(1, 2, 3);

        unseen.Seen(1);

        Assert.Equal(Relay + Relay, unseen.GiveUp(long.MaxValue, out ulong first, out ulong last));
        Assert.Equal((2UL, 3UL), (first, last));
        Assert.Equal(0, unseen.Bytes);
    }

    [Fact]
    public void A_batch_that_was_seen_does_not_say_that_those_before_it_were()
    {
        UnseenBatches unseen = Sent(1, 2, 3);

        unseen.Seen(3);

        Assert.Equal(Relay + Relay, unseen.GiveUp(long.MaxValue, out ulong first, out ulong last));
        Assert.Equal((1UL, 2UL), (first, last));
    }

    [Fact]
    public void What_a_former_link_has_sent_says_nothing_about_this_one()
    {
        UnseenBatches unseen = Sent(1, 2);

        unseen.Seen(5000);

        Assert.Equal(Relay + Relay, unseen.GiveUp(long.MaxValue, out _, out _));
    }

    private static UnseenBatches Sent(params ulong[] numbers)
    {
        var unseen = new UnseenBatches();
        foreach (ulong number in numbers)
        {
            unseen.Add(new SentBatch(number, Bytes: 100, Relay, SentAt: 0));
        }

        return unseen;
    }
}
