using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Client.Tests.Reports;

public sealed class RunProgressTests
{
    private static readonly LoadSettings Settings = new() { WarmUp = TimeSpan.FromSeconds(2), Duration = TimeSpan.FromSeconds(10) };

    [Fact]
    public void Has_time_rate_percentiles_and_errors_in_several_lengths()
    {
        Assert.Equal(
            [
                "3 of 10 s  408,411 messages/s  p50 47.7 us  p99 1,221.6 us  1,000 errors",
                "3 of 10 s  408,411/s  p99 1,221.6 us  1,000 errors",
                "408,411/s  p99 1,221.6 us  1,000 errors",
                "408,411/s  1,000 errors",
            ],
            RunProgress.Texts(Settings, TimeSpan.FromSeconds(5), 408_411, RoundTrips(), 1000));
    }

    [Fact]
    public void One_way_loads_have_no_percentiles() => Assert.Equal(
        ["3 of 10 s  5 messages/s  0 errors", "3 of 10 s  5/s  0 errors", "5/s  0 errors", "5/s  0 errors"],
        RunProgress.Texts(Settings, TimeSpan.FromSeconds(5), 5, null, 0));

    [Theory]
    [InlineData(1, "1 of 2 s warm-up  ")]
    [InlineData(2, "0 of 10 s  ")]
    [InlineData(12, "10 of 10 s  ")]
    [InlineData(15, "10 of 10 s  ")]
    public void Tells_the_warm_up_from_the_measurement(int seconds, string beginning) =>
        Assert.StartsWith(beginning, RunProgress.Texts(Settings, TimeSpan.FromSeconds(seconds), 1, null, 0)[0], StringComparison.Ordinal);

    [Fact]
    public void Tells_what_came_since_the_last_time_also_when_the_warm_up_is_forgotten()
    {
        var time = new SteppedTime();
        var load = new CountedLoad { Messages = 100 };
        var progress = new RunProgress(Settings, load, new LoadErrors(), time, CancellationToken.None);

        time.Step();
        Assert.Contains("  100 messages/s", progress.Next()[0], StringComparison.Ordinal);

        load.Messages = 350;
        time.Step();
        Assert.Contains("  250 messages/s", progress.Next()[0], StringComparison.Ordinal);

        load.Messages = 20;
        time.Step();
        Assert.Contains("  20 messages/s", progress.Next()[0], StringComparison.Ordinal);
    }

    [Fact]
    public void Says_what_it_waits_for_once_interrupted()
    {
        var progress = new RunProgress(
            Settings, new CountedLoad(), new LoadErrors(), new SteppedTime(), new CancellationToken(canceled: true));

        Assert.Contains("Ctrl+C again ends at once", progress.Next()[0], StringComparison.Ordinal);
    }

    private static LatencySnapshot RoundTrips()
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 98; i++)
        {
            histogram.Record(47_700);
        }

        histogram.Record(1_221_600);
        histogram.Record(9_000_000);
        return histogram.Snapshot();
    }

    private sealed class SteppedTime : TimeProvider
    {
        private long _seconds;

        public override long TimestampFrequency => 1;

        public override long GetTimestamp() => _seconds;

        public void Step() => _seconds++;
    }

    private sealed class CountedLoad : ILoad
    {
        public long Messages { get; set; }

        public LatencySnapshot? RoundTrips => null;

        public int Connected => 0;

        public Task ConnectAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task<LoadMeasurement> RunAsync(Action warmedUp, CancellationToken interrupted) => throw new NotSupportedException();

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
