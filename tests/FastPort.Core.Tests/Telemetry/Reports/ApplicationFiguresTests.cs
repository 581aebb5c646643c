using System.Text.Json;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

/// <summary>What an application adds to the reports, its operations and counts, as each output shows it.</summary>
public sealed class ApplicationFiguresTests
{
    private readonly FakeClock _clock = new();
    private readonly LatencyStats _stats;
    private long _read = 100;
    private long _cached;

    public ApplicationFiguresTests()
    {
        _stats = new LatencyStats(LatencyRole.Server, time: _clock);
        _stats.AddCount("line1", "read", () => _read);
        _stats.AddCount("line1", "cached", () => _cached);
        _stats.AddCount("line1", "cache_hit_rate", () => _cached, () => _cached + _read);
        _stats.AddCount("line, 2", "read", static () => 0);
        _read += 3;
        _cached += 1;
        _stats.ForOperation("line1 Read").RecordCall(2_000_000);
        _stats.ForOperation("line1 Read").RecordError();
        _clock.Advance(TimeSpan.FromSeconds(2));
    }

    [Fact]
    public void Tables_have_operations_after_the_types_and_then_the_counts()
    {
        _stats.ForType(7).RecordHandled(9_000, 2_000, 5_000);

        string[] lines = LatencyTable.Interval(_stats.Read()).Split('\n');

        Assert.Equal("type 0x0007: 1 message, 0.5/s, 0 errors", lines[6]);
        Assert.Equal(
            [
                "operation line1 Read: 1 call, 0.5/s, 1 error",
                "  call                  1  2,000.0  2,000.0  2,000.0  2,000.0  2,000.0  2,000.0      -  2,000.0     1.00",
                "counts   read  cached  cache hit rate",
                "line1       3       1           0.250",
                "line, 2     0       -               -",
                "",
            ],
            lines[10..]);
    }

    [Fact]
    public void A_document_has_the_counts_of_each_period()
    {
        _stats.CutInterval();
        _read += 4;
        _cached += 4;

        string text = LatencyTable.Document(_stats.Read(), final: false);

        Assert.Contains("line1       7       5           0.417\n", text, StringComparison.Ordinal);
        Assert.Contains("line1       4       4           0.500\n", text, StringComparison.Ordinal);
    }

    [Fact]
    public void The_json_has_them_beside_the_scopes()
    {
        const string Call =
            """
            "call":{"us":{"count":1,"min":2000,"avg":2000,"p50":2000,"p90":2000,"p95":2000,"p99":2000,"p999":2000,"max":2000},
            "p9999_us":2000,"p99_over_avg":1,"clamped_low":0,"clamped_high":0}
            """;
        string lifetime = $"{Call[..^1]},\"histogram\":{{\"us\":[2000],\"counts\":[1]}}}}";
        _clock.Advance(TimeSpan.FromSeconds(2));

        using var document = JsonDocument.Parse(LatencyJson.ToUtf8(_stats.CutInterval(), final: true));
        JsonElement root = document.RootElement;

        Assert.Equal(["all"], root.GetProperty("scopes").EnumerateArray().Select(static scope => scope.GetProperty("scope").GetString()));
        AssertJson(
            $$$"""
            [{"name":"line1 Read",
            "interval":{"seconds":4,"calls":1,"per_s":0.25,"errors":1,{{{Call}}}},
            "lifetime":{"seconds":4,"calls":1,"per_s":0.25,"errors":1,{{{lifetime}}}}}]
            """,
            root.GetProperty("operations"));
        AssertJson(
            """
            [{"name":"line1","interval":{"read":3,"cached":1,"cache_hit_rate":0.25},"lifetime":{"read":3,"cached":1,"cache_hit_rate":0.25}},
            {"name":"line, 2","interval":{"read":0},"lifetime":{"read":0}}]
            """,
            root.GetProperty("counts"));
    }

    [Fact]
    public void A_ratio_of_nothing_is_null()
    {
        _stats.CutInterval();

        using var document = JsonDocument.Parse(LatencyJson.ToUtf8(_stats.Read(), final: true));
        JsonElement line1 = document.RootElement.GetProperty("counts")[0];

        AssertJson("""{"read":0,"cached":0,"cache_hit_rate":null}""", line1.GetProperty("interval"));
        AssertJson("""{"read":3,"cached":1,"cache_hit_rate":0.25}""", line1.GetProperty("lifetime"));
    }

    [Fact]
    public void The_csv_has_a_row_for_each_operation_and_count_of_the_interval()
    {
        string[] rows = LatencyCsv.IntervalRows(_stats.Read()).Split('\n');

        Assert.Equal(
            [
                "2026-03-04T05:06:09.000Z,2,2,operation,,line1 Read,call,1,0.5,1,2000,2000,2000,2000,2000,2000,2000,2000,0,0",
                "2026-03-04T05:06:09.000Z,2,2,count,,line1,read,3,1.5,,,,,,,,,,,",
                "2026-03-04T05:06:09.000Z,2,2,count,,line1,cached,1,0.5,,,,,,,,,,,",
                "2026-03-04T05:06:09.000Z,2,2,count,,\"line, 2\",read,0,0,,,,,,,,,,,",
                "",
            ],
            rows[3..]);
        int columns = LatencyCsv.Header.Split(',').Length;
        Assert.All([rows[0], rows[3], rows[4]], row => Assert.Equal(columns, row.Split(',').Length));
    }

    private static void AssertJson(string expected, JsonElement actual) =>
        Assert.Equal(expected.ReplaceLineEndings(""), JsonSerializer.Serialize(actual));
}
