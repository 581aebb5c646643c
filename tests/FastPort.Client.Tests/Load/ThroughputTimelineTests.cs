using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class ThroughputTimelineTests
{
    private readonly FakeTimeProvider _time = new();
    private long _messages = 100;
    private long _errors = 7;

    [Fact]
    public void Each_second_is_a_column_and_what_was_before_is_in_none()
    {
        ThroughputTimeline timeline = Begin();
        Pass(10, 0);
        Pass(20, 1);
        _time.Advance(TimeSpan.FromMilliseconds(500));
        _messages += 5;

        IReadOnlyList<ThroughputColumn> columns = timeline.End();

        Assert.Equal(
            [
                new ThroughputColumn(TimeSpan.Zero, TimeSpan.FromSeconds(1), 10, 0),
                new ThroughputColumn(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1), 20, 1),
                new ThroughputColumn(TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(0.5), 5, 0),
            ],
            columns);
    }

    [Fact]
    public void A_short_rest_belongs_to_the_last_column()
    {
        ThroughputTimeline timeline = Begin();
        Pass(10, 0);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        _messages += 5;

        IReadOnlyList<ThroughputColumn> columns = timeline.End();

        Assert.Equal([new ThroughputColumn(TimeSpan.Zero, TimeSpan.FromSeconds(1.1), 15, 0)], columns);
    }

    [Fact]
    public void Seconds_without_a_message_are_an_interruption()
    {
        ThroughputTimeline timeline = Begin();
        Pass(10, 0);
        Pass(0, 0);
        Pass(0, 0);
        Pass(20, 0);
        Pass(0, 0);
        timeline.End();

        Assert.Equal((2, TimeSpan.FromSeconds(3)), (timeline.Interruptions, timeline.InterruptedTime));
    }

    [Fact]
    public void A_long_run_has_at_most_600_columns_and_loses_nothing()
    {
        ThroughputTimeline timeline = Begin();
        for (int second = 0; second < 1500; second++)
        {
            Pass(1, 0);
        }

        IReadOnlyList<ThroughputColumn> columns = timeline.End();

        Assert.InRange(columns.Count, 300, ThroughputTimeline.MaxColumns);
        Assert.Equal(1500, columns.Sum(static c => c.Messages));
        Assert.Equal(1500, columns.Sum(static c => c.Length.TotalSeconds), 3);
        Assert.All(columns.Zip(columns.Skip(1)), static pair => Assert.Equal(pair.First.Start + pair.First.Length, pair.Second.Start));
    }

    private ThroughputTimeline Begin() => new(_messages, () => _messages, () => _errors, _time);

    private void Pass(int messages, int errors)
    {
        _messages += messages;
        _errors += errors;
        _time.Advance(TimeSpan.FromSeconds(1));
    }
}
