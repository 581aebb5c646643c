using System.Text;
using System.Text.Json;
using FastPort.Telemetry;
using FastPort.Telemetry.Reports.Html;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

public sealed class HtmlReportTests
{
    private const int MaxBytes = 1_000_000;

    private const string LoadResult =
        """
        {"schema":1,"mode":"echo","server":"tcp://127.0.0.1:6628","connections":32,"in_flight":16,"payload_bytes":64,"rate":null,
         "duration_s":10.0,"messages":2,"errors":1,"messages_per_s":0.2,"bytes_per_s":6.4,
         "rtt_us":{"count":2,"min":1,"avg":2,"p50":1,"p90":3,"p95":3,"p99":3,"p999":3,"max":3,"p99_over_avg":1.5},
         "server_us":null,"network_us":null,"environment":{"os":"Linux","cpu_count":2},"per_connection":null}
        """;

    private readonly FakeClock _clock = new();

    [Fact]
    public void A_page_has_the_figures_of_its_file()
    {
        var stats = new LatencyStats(LatencyRole.Client, typeName: static type => type == 1 ? "Move" : null, time: _clock);
        stats.ForType(1).RecordRoundTrip(50_000, 10_000);
        stats.ForType(2).RecordRoundTrip(90_000, 20_000);
        stats.ForSession(7).RecordRoundTrip(90_000, 20_000);
        stats.ForType(1).RecordError();
        _clock.Advance(TimeSpan.FromSeconds(2));

        JsonElement page = DataOf(HtmlReport.Create(LatencyJson.ToUtf8(stats.Read(), final: true))).GetProperty("after");

        Assert.Equal((2, 1, 1), (page.GetProperty("messages").GetInt64(), page.GetProperty("errors").GetInt64(),
            page.GetProperty("per_s").GetDouble()));
        JsonElement roundTrip = page.GetProperty("latencies")[0];
        Assert.Equal("round trip", roundTrip.GetProperty("name").GetString());
        Assert.Equal(90, roundTrip.GetProperty("us").GetProperty("max").GetDouble());
        Assert.Equal([1, 1], roundTrip.GetProperty("histogram").GetProperty("counts").EnumerateArray().Select(static n => n.GetInt64()));
        Assert.Equal(
            ["Move", "0x0002"], page.GetProperty("types").EnumerateArray().Select(static type => type.GetProperty("name").GetString()));
        Assert.Equal("7", Assert.Single(page.GetProperty("sessions").EnumerateArray()).GetProperty("name").GetString());
        Assert.Equal(2, page.GetProperty("timeline").GetProperty("messages")[0].GetInt64());
    }

    [Fact]
    public void A_file_of_schema_1_makes_a_page_of_tables()
    {
        JsonElement page = DataOf(HtmlReport.Create(Encoding.UTF8.GetBytes(LoadResult))).GetProperty("after");

        JsonElement latency = Assert.Single(page.GetProperty("latencies").EnumerateArray());
        Assert.Equal(1.5, latency.GetProperty("us").GetProperty("p99_over_avg").GetDouble());
        Assert.False(latency.TryGetProperty("histogram", out _));
        Assert.False(page.TryGetProperty("timeline", out _));
    }

    [Fact]
    public void A_comparison_has_both()
    {
        byte[] before = Encoding.UTF8.GetBytes(LoadResult.Replace("\"messages\":2", "\"messages\":1", StringComparison.Ordinal));

        JsonElement page = DataOf(HtmlReport.Compare(before, Encoding.UTF8.GetBytes(LoadResult)));

        Assert.Equal(1, page.GetProperty("before").GetProperty("messages").GetInt64());
        Assert.Equal(2, page.GetProperty("after").GetProperty("messages").GetInt64());
    }

    [Fact]
    public void Texts_of_a_file_cannot_leave_the_data()
    {
        const string Hostile = "</script><script>alert(1)</script><!-- &amp; \\u2028";
        byte[] file = Encoding.UTF8.GetBytes(LoadResult.Replace("tcp://127.0.0.1:6628", Hostile, StringComparison.Ordinal)
            .Replace("\"echo\"", $"\"{Hostile}\"", StringComparison.Ordinal));

        string page = Encoding.UTF8.GetString(HtmlReport.Create(file));

        Assert.DoesNotContain("<script>alert", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<!--", page, StringComparison.Ordinal);
        Assert.Contains("default-src 'none'", page, StringComparison.Ordinal);
        string shown = DataOf(Encoding.UTF8.GetBytes(page)).GetProperty("after").GetProperty("facts")[0][1].GetString()!;
        Assert.StartsWith("</script><script>alert(1)", shown, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"schema":3}""")]
    [InlineData("""{"schema":"1"}""")]
    [InlineData("""{"schema":1,"mode":null}""")]
    [InlineData("""{"schema":2,"scopes":[]}""")]
    [InlineData("""{"schema":2,"scopes":7}""")]
    public void What_is_no_measurement_is_refused(string text) =>
        Assert.ThrowsAny<JsonException>(() => HtmlReport.Create(Encoding.UTF8.GetBytes(text)));

    [Theory]
    [InlineData("\"rtt_us\":{\"count\":2,", "\"rtt_us\":{")]
    [InlineData("\"messages\":2", "\"messages\":\"two\"")]
    [InlineData("\"messages\":2", "\"messages\":1e300")]
    [InlineData("\"per_connection\":null", "\"per_connection\":[{}]")]
    [InlineData("\"per_connection\":null", "\"timeline\":{\"start_s\":7}")]
    [InlineData("\"per_connection\":null", "\"timeline\":{\"start_s\":null,\"seconds\":[],\"messages\":[],\"errors\":[]}")]
    [InlineData("\"per_connection\":null", "\"timeline\":{\"start_s\":[0],\"seconds\":[],\"messages\":[1],\"errors\":[0]}")]
    [InlineData(
        "\"per_connection\":null",
        "\"timeline\":{\"start_s\":[0],\"seconds\":[1],\"messages\":[1],\"errors\":[0],\"rows_per_octave\":2,\"heat\":[null]}")]
    [InlineData("\"per_connection\":null", "\"histograms\":{\"round_trip\":{\"us\":null,\"counts\":[]}}")]
    [InlineData("\"per_connection\":null", "\"histograms\":{\"round_trip\":{\"us\":[1,2],\"counts\":[1]}}")]
    public void A_field_of_the_wrong_kind_is_refused(string field, string wrong)
    {
        string text = LoadResult.Replace(field, wrong, StringComparison.Ordinal);
        Assert.NotEqual(LoadResult, text);

        Assert.ThrowsAny<JsonException>(() => HtmlReport.Create(Encoding.UTF8.GetBytes(text)));
    }

    [Fact]
    public void A_long_histogram_with_fewer_counts_and_a_latency_without_figures_are_refused()
    {
        string values = string.Join(',', Enumerable.Range(0, ReportReduction.MaxHistogramValues + 1));
        string histogram = LoadResult.Replace(
            "\"per_connection\":null", $"\"histograms\":{{\"round_trip\":{{\"us\":[{values}],\"counts\":[]}}}}", StringComparison.Ordinal);
        const string Statistics =
            """
            {"schema":2,"role":"client","scopes":[{"scope":"all","lifetime":
             {"seconds":1,"messages":1,"per_s":1,"errors":0,"round_trip":{"us":null}}}]}
            """;

        Assert.Throws<JsonException>(() => HtmlReport.Create(Encoding.UTF8.GetBytes(histogram)));
        Assert.Throws<JsonException>(() => HtmlReport.Create(Encoding.UTF8.GetBytes(Statistics)));
    }

    // Every bucket of every latency is filled, in every column, and 20,000 sessions were measured.
    [Fact]
    public void The_largest_page_stays_under_a_megabyte_and_keeps_its_counts()
    {
        var stats = new LatencyStats(LatencyRole.Client, time: _clock);
        LatencySeries series = stats.ForType(1);
        long recorded = 0;
        for (int column = 0; column < LatencyTimeline.MaxColumns; column++)
        {
            for (double latency = 100 + column; latency < 6e10; latency *= 1.02)
            {
                series.RecordRoundTrip((long)latency, (long)latency / 2);
                recorded++;
            }

            _clock.Advance(TimeSpan.FromSeconds(1));
            stats.SampleTimeline();
        }

        for (ulong session = 1; session <= 20_000; session++)
        {
            stats.ForSession(session).RecordRoundTrip((long)session * 100, 100);
        }

        byte[] page = HtmlReport.Create(LatencyJson.ToUtf8(stats.Read(), final: true));

        Assert.InRange(page.Length, 0, MaxBytes);
        JsonElement data = DataOf(page).GetProperty("after");
        Assert.Equal(20_000, data.GetProperty("sessions_measured").GetInt32());
        Assert.Equal(
            [.. Enumerable.Range(0, ReportReader.MaxSessions).Select(static i => (20_000 - i).ToString())],
            data.GetProperty("sessions").EnumerateArray().Select(static session => session.GetProperty("name").GetString()));
        Assert.Equal(recorded, data.GetProperty("latencies")[0].GetProperty("histogram").GetProperty("counts").EnumerateArray()
            .Sum(static n => n.GetInt64()));
        Assert.Equal(recorded, data.GetProperty("timeline").GetProperty("heat").EnumerateArray()
            .Sum(static column => column.EnumerateArray().Where(static (_, i) => i % 2 == 1).Sum(static n => n.GetInt64())));
    }

    [Fact]
    public void A_row_of_the_heat_map_is_a_share_of_a_power_of_two()
    {
        Assert.Equal(0, DistributionJson.RowOf(1));
        for (int row = 8 * DistributionJson.RowsPerOctave; row < 36 * DistributionJson.RowsPerOctave; row++)
        {
            double edge = Math.Pow(2, (double)row / DistributionJson.RowsPerOctave);
            Assert.Equal(row, DistributionJson.RowOf((long)Math.Ceiling(edge)));
            Assert.Equal(row - 1, DistributionJson.RowOf((long)Math.Ceiling(edge) - 1));
        }
    }

    private static JsonElement DataOf(byte[] page)
    {
        const string Begin = "<script id=\"data\" type=\"application/json\">";
        string text = Encoding.UTF8.GetString(page);
        int begin = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        return JsonDocument.Parse(text[begin..text.IndexOf("</script>", begin, StringComparison.Ordinal)]).RootElement;
    }
}
