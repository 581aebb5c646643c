using FastPort.Comparisons.Measuring;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

public sealed class PaceTests
{
    private readonly Clock _clock = new();

    [Fact]
    public void The_rest_takes_as_long_as_what_is_done_did()
    {
        var pace = new Pace(_clock, scenarios: 4);

        _clock.Now += TimeSpan.FromMinutes(2);
        Assert.Equal("13 % done, about 14 min left", pace.EndPart(1, 2));
        _clock.Now += TimeSpan.FromMinutes(2);
        Assert.Equal("25 % done, about 12 min left", pace.EndScenario());
        _clock.Now += TimeSpan.FromMinutes(4);
        Assert.Equal("50 % done, about 8 min left", pace.EndScenario());
        _clock.Now += TimeSpan.FromMinutes(4);
        Assert.Equal("75 % done, about 4 min left", pace.EndScenario());
        Assert.Null(pace.EndScenario());
    }

    [Fact]
    public void The_last_minute_is_counted_in_seconds()
    {
        var pace = new Pace(_clock, scenarios: 1);

        _clock.Now += TimeSpan.FromSeconds(40);
        Assert.Equal("50 % done, about 40 s left", pace.EndPart(1, 2));
        Assert.Null(pace.EndPart(2, 2));
    }

    private sealed class Clock : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = DateTimeOffset.UnixEpoch;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;
    }
}
