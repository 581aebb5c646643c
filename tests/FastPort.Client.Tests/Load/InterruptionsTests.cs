using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class InterruptionsTests
{
    private const long Second = 1_000_000_000;
    private readonly Interruptions _interruptions = new();

    [Fact]
    public void A_time_of_over_a_second_without_a_reply_is_one()
    {
        _interruptions.OnReply(1 * Second);
        _interruptions.Begin(10 * Second, null);
        _interruptions.OnReply(11 * Second);
        _interruptions.OnReply(14 * Second);
        _interruptions.OnReply((14 * Second) + 5);
        _interruptions.End(15 * Second);
        _interruptions.OnReply(90 * Second);

        Assert.Equal((1, TimeSpan.FromSeconds(3)), (_interruptions.Count, _interruptions.Time));
    }

    [Fact]
    public void One_that_lasts_until_the_end_counts()
    {
        _interruptions.Begin(Second, null);
        _interruptions.OnReply(2 * Second);
        _interruptions.End(5 * Second);

        Assert.Equal((1, TimeSpan.FromSeconds(3)), (_interruptions.Count, _interruptions.Time));
    }

    // A message every 4 s: nobody waits between them.
    [Fact]
    public void In_an_open_loop_it_begins_when_a_message_is_due()
    {
        var schedule = new SendSchedule(0.25, 1, 0);
        schedule.Begin(2 * Second);
        _interruptions.Begin(4 * Second, schedule);
        _interruptions.OnReply((6 * Second) + (Second / 2));
        _interruptions.OnReply(12 * Second);
        _interruptions.End(13 * Second);

        Assert.Equal((1, TimeSpan.FromSeconds(2)), (_interruptions.Count, _interruptions.Time));
    }
}
