using FastPort.Client.Load;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class SendScheduleTests
{
    private const long Second = 1_000_000_000;

    [Fact]
    public void Spaces_the_messages_of_all_connections_evenly()
    {
        SendSchedule[] schedules = [.. Enumerable.Range(0, 4).Select(static i => Begun(1000, 4, i))];
        List<long> due = [];
        foreach (SendSchedule schedule in schedules)
        {
            while (schedule.TryTake(Second + (Second / 10), out long at))
            {
                due.Add(at);
            }
        }

        due.Sort();
        Assert.Equal(Enumerable.Range(0, 101).Select(static i => Second + (i * 1_000_000L)), due);
    }

    [Fact]
    public void Gives_a_message_not_before_it_is_due()
    {
        SendSchedule schedule = Begun(10, 1, 0);

        Assert.True(schedule.TryTake(Second, out long first));
        Assert.Equal(Second, first);
        Assert.False(schedule.TryTake(Second + 99_999_999, out _));
        Assert.True(schedule.TryTake(Second + 100_000_000, out long second));
        Assert.Equal(Second + 100_000_000, second);
        Assert.Equal(2, schedule.Taken);
    }

    [Fact]
    public void Keeps_the_due_time_of_messages_taken_late()
    {
        SendSchedule schedule = Begun(10, 1, 0);

        Assert.True(schedule.TryTake(10 * Second, out _));
        Assert.True(schedule.TryTake(10 * Second, out long second));

        Assert.Equal(Second + 100_000_000, second);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(3, 7)]
    [InlineData(999.5, 32)]
    [InlineData(1e6, 5)]
    public void Counts_what_was_taken_and_missed_without_a_gap(double rate, int connections)
    {
        for (int index = 0; index < connections; index++)
        {
            SendSchedule schedule = Begun(rate, connections, index);
            long from = Second + (Second / 7);
            long to = Second + (3 * Second / 2);
            long all = schedule.CountMissed(from, to);
            Assert.Equal(schedule.CountBefore(to) - schedule.CountBefore(from), all);

            long middle = Second + (Second / 2);
            long taken = 0;
            while (schedule.TryTake(middle, out long due))
            {
                taken += due >= from ? 1 : 0;
            }

            Assert.Equal(all - taken, schedule.CountMissed(from, to));
        }
    }

    [Theory]
    [InlineData(50_000, 1)]
    [InlineData(50_000, 100)]
    [InlineData(999.5, 7)]
    public void A_pass_of_the_pacer_ends_with_the_time_of_the_next_message(double rate, int connections)
    {
        var recorder = new LoadRecorder(new LatencyStats(LatencyRole.Client, 1000), new LoadErrors(), measureSessions: false);
        EchoLane[] lanes = [.. Enumerable.Range(0, connections).Select(
            i => new EchoLane(i, 1, new EchoPayload(0), recorder, new SendSchedule(rate, connections, i)))];
        using var pacer = new Pacer(Begun(rate, 1, 0), lanes);
        SendSchedule[] schedules = [.. Enumerable.Range(0, connections).Select(i => Begun(rate, connections, i))];
        long due = Second;
        for (int number = 0; number < 1000; number++)
        {
            // The messages of the whole run are those of one connection after the other.
            Assert.Equal(due, schedules[number % connections].DueAt(number / connections));
            long now = due;

            due = pacer.SendDue(now);

            Assert.True(due > now);
        }
    }

    private static SendSchedule Begun(double rate, int connections, int index)
    {
        var schedule = new SendSchedule(rate, connections, index);
        schedule.Begin(Second);
        return schedule;
    }
}
