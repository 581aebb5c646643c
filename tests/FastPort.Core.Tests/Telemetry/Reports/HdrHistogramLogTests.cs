using System.Text;
using FastPort.Core.Tests.Telemetry.Histograms;
using FastPort.Telemetry;
using HdrHistogram;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

/// <summary>The .hlog file as the package HdrHistogram reads it.</summary>
public sealed class HdrHistogramLogTests : IDisposable
{
    private const int Written = 5000;

    private readonly TemporaryDirectory _directory = new();
    private readonly FakeClock _clock = new();
    private readonly RecordingLogger<LatencyStatsWriter> _logger = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Every_interval_is_there_with_its_tags_times_and_values()
    {
        var stats = new LatencyStats(LatencyRole.Client, typeName: static _ => "Über, all", time: _clock);
        var started = _clock.GetUtcNow();
        await using var writer = Writer(stats, enabled: true);
        long[] first = LatencyHistogramTests.Samples("log-normal", seed: 31)[..10_000];
        long[] second = LatencyHistogramTests.Samples("bimodal", seed: 32)[..10_000];

        Record(stats, first);
        writer.Start();
        _clock.Advance(TimeSpan.FromSeconds(60));
        await _logger.WaitForAsync(Written);
        Record(stats, second);
        _clock.Advance(TimeSpan.FromSeconds(1.5));
        await writer.FinishAsync();

        HistogramBase[] read = ReadLog();
        string[] tags = ["all/round_trip", "all/server", "all/network", "Über__all/round_trip", "Über__all/server", "Über__all/network"];
        Assert.Equal([.. tags, .. tags], read.Select(static h => h.Tag));
        AssertInterval(read[0], started, started.AddSeconds(60), first);
        AssertInterval(read[3], started, started.AddSeconds(60), first);
        AssertInterval(read[6], started.AddSeconds(60), started.AddSeconds(61.5), second);
        Assert.All([read[1], read[4], read[7], read[10]], static h => Assert.Equal(1_000, h.LowestEquivalentValue(h.GetMaxValue())));
    }

    [Fact]
    public async Task Times_are_right_again_once_the_clock_was_set()
    {
        var stats = new LatencyStats(LatencyRole.Client, time: _clock);
        await using var writer = Writer(stats, enabled: true);
        writer.Start();
        _clock.SetUtc(TimeSpan.FromHours(3));
        long[] values = [1_000];
        Record(stats, values);
        _clock.Advance(TimeSpan.FromSeconds(60));
        await _logger.WaitForAsync(Written);
        DateTimeOffset written = _clock.GetUtcNow();
        Record(stats, values);
        _clock.Advance(TimeSpan.FromSeconds(2));
        stats.StopMeasuring();
        _clock.Advance(TimeSpan.FromSeconds(5));
        await writer.FinishAsync();

        HistogramBase[] read = ReadLog();

        AssertInterval(read[0], written.AddSeconds(-60), written, values);
        AssertInterval(read[^3], written, written.AddSeconds(2), values);
    }

    [Fact]
    public async Task Values_outside_of_the_range_are_counted_at_its_ends()
    {
        var stats = new LatencyStats(LatencyRole.Client, time: _clock);
        Record(stats, [-7, 0, 1, 99, 100, 2047, 2048, 60_000_000_000, 60_000_000_001, long.MaxValue]);
        await Writer(stats, enabled: true).FinishAsync();

        HistogramBase whole = ReadLog()[0];
        Assert.Equal(10, whole.TotalCount);
        Assert.Equal(0, whole.GetValueAtPercentile(0));
        Assert.Equal(whole.HighestEquivalentValue(60_000_000_000), whole.GetValueAtPercentile(100));
    }

    [Fact]
    public async Task Operations_are_there_with_their_own_tags()
    {
        var stats = new LatencyStats(LatencyRole.Server, time: _clock);
        stats.ForOperation("line 1 Read").RecordCall(2_000_000);
        await Writer(stats, enabled: true).FinishAsync();

        HistogramBase read = Assert.Single(ReadLog());
        Assert.Equal(("line_1_Read/call", 1), (read.Tag, read.TotalCount));
    }

    [Fact]
    public async Task Without_the_option_there_is_no_such_file_and_without_values_no_interval()
    {
        await Writer(new LatencyStats(LatencyRole.Server, time: _clock), enabled: false).FinishAsync();
        Assert.Empty(Directory.GetFiles(_directory.Path, "*.hlog"));

        await Writer(new LatencyStats(LatencyRole.Server, time: _clock), enabled: true).FinishAsync();
        Assert.Empty(ReadLog());
    }

    private static void Record(LatencyStats stats, long[] values)
    {
        foreach (long value in values)
        {
            stats.ForType(0x100).RecordRoundTrip(value, 1_000);
        }
    }

    private static void AssertInterval(HistogramBase read, DateTimeOffset start, DateTimeOffset end, long[] values)
    {
        Assert.Equal((start.ToUnixTimeMilliseconds(), end.ToUnixTimeMilliseconds()), (read.StartTimeStamp, read.EndTimeStamp));
        var ours = new LatencyHistogram();
        foreach (long value in values)
        {
            ours.Record(value);
        }

        HdrHistogramOracleTests.AssertPercentiles(read, ours.Snapshot());
        Assert.Equal(read.LowestEquivalentValue(values.Max()), read.LowestEquivalentValue(read.GetMaxValue()));
        Assert.Equal(read.HighestEquivalentValue(values.Min()), read.GetValueAtPercentile(0));
    }

    private LatencyStatsWriter Writer(LatencyStats stats, bool enabled) => new(
        stats,
        new LatencyStatsOptions { EnableConsoleOutput = false, EnableHistogramLog = enabled, OutputDirectory = _directory.Path },
        _logger);

    private HistogramBase[] ReadLog()
    {
        byte[] file = File.ReadAllBytes(Assert.Single(Directory.GetFiles(_directory.Path, "*.hlog")));
        Assert.NotEqual(Encoding.UTF8.GetPreamble(), file[..3]);
        using var stream = new MemoryStream(file);
        using var reader = new HistogramLogReader(stream);
        return [.. reader.ReadHistograms()];
    }
}
