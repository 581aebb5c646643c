using System.Buffers;
using System.Text;
using System.Text.Json;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

public sealed class LatencyOutputTests
{
    private readonly FakeClock _clock = new();

    [Fact]
    public void The_block_of_a_load_run_has_exactly_its_nine_fields_in_microseconds()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(1_000);
        histogram.Record(2_001);
        histogram.Record(2_500);
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            LatencyJson.WriteMicroseconds(writer, histogram.Snapshot());
        }

        Assert.Equal(
            """{"count":3,"min":1,"avg":1.833667,"p50":2,"p90":2.5,"p95":2.5,"p99":2.5,"p999":2.5,"max":2.5}""",
            Encoding.UTF8.GetString(buffer.WrittenSpan));
    }

    [Fact]
    public void Columns_of_the_table_are_aligned_and_decimals_follow_the_size()
    {
        var stats = new LatencyStats(LatencyRole.Server, typeName: static _ => "Echo", time: _clock);
        stats.ForType(0x100).RecordHandled(2_500_000, 123_400, 1_234);
        _clock.Advance(TimeSpan.FromSeconds(2));

        var lines = LatencyTable.Lifetime(stats.Read()).Split('\n', StringSplitOptions.RemoveEmptyEntries);

        Assert.Equal("server latency in us, lifetime of 2.00 s", lines[0]);
        Assert.Equal(["samples", "min", "avg", "P50", "P90", "P95", "P99", "P99.9", "max", "P99/avg"], Words(lines[1]));
        Assert.Equal("all: 1 message, 0.5/s, 0 errors", lines[2]);
        Assert.Equal(
            ["decode", "to", "send", "1", "2,500.0", "2,500.0", "2,500.0", "2,500.0", "2,500.0", "2,500.0", "-", "2,500.0", "1.00"],
            Words(lines[3]));
        Assert.Equal("123.40", Words(lines[4])[2]);
        Assert.Equal("1.234", Words(lines[5])[2]);
        Assert.Equal("type Echo: 1 message, 0.5/s, 0 errors", lines[6]);
        Assert.Single(new[] { lines[1], lines[3], lines[4], lines[5] }.Select(line => line.Length).Distinct());
    }

    [Theory]
    [InlineData(10_000, false)]
    [InlineData(10_001, true)]
    public void P999_is_shown_above_ten_thousand_samples_only(int samples, bool shown)
    {
        var stats = new LatencyStats(LatencyRole.Client, time: _clock);
        for (var i = 0; i < samples; i++)
        {
            stats.ForType(1).RecordRoundTrip(50_000, 10_000);
        }

        var roundTrip = LatencyTable.Interval(stats.Read()).Split('\n')
            .First(line => line.Contains("round trip", StringComparison.Ordinal));

        Assert.Equal(shown ? "50.00" : "-", Words(roundTrip)[9]);
    }

    [Fact]
    public void Latencies_without_samples_are_dashes()
    {
        var stats = new LatencyStats(LatencyRole.Client, time: _clock);

        Assert.Contains("server            0    -    -", LatencyTable.Lifetime(stats.Read()), StringComparison.Ordinal);
    }

    [Fact]
    public void The_document_has_lifetime_interval_and_recent_samples()
    {
        var stats = new LatencyStats(LatencyRole.Client, 10, time: _clock);
        stats.ForType(1).RecordRoundTrip(1_000, 100);
        var text = LatencyTable.Document(stats.Read(), final: true);

        Assert.Contains("written 2026-03-04 05:06:07Z, final\n", text, StringComparison.Ordinal);
        Assert.Contains("client latency in us, lifetime of", text, StringComparison.Ordinal);
        Assert.Contains("client latency in us, interval of", text, StringComparison.Ordinal);
        Assert.Contains("client latency in us, exact, of the last 1 sample", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_with_commas_and_quotes_are_quoted_in_the_csv()
    {
        var stats = new LatencyStats(LatencyRole.Client, typeName: static _ => "a,\"b\"", time: _clock);
        stats.ForType(1).RecordRoundTrip(1_000, 100);

        Assert.Contains(",type,1,\"a,\"\"b\"\"\",server,", LatencyCsv.IntervalRows(stats.Read()), StringComparison.Ordinal);
    }

    private static string[] Words(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
}
