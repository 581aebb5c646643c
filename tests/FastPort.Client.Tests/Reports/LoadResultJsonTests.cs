using System.Text;
using System.Text.Json;
using FastPort.Client.Reports;
using Xunit;

namespace FastPort.Client.Tests.Reports;

public sealed class LoadResultJsonTests
{
    [Fact]
    public void Has_the_fixed_names()
    {
        using JsonDocument json = JsonDocument.Parse(LoadResultWriter.ToUtf8(Results.Before with { ErrorKinds = Results.NoErrors }));

        string[] names = [.. json.RootElement.EnumerateObject().Select(static p => p.Name)];
        Assert.Equal(
            [
                "schema", "mode", "server", "connections", "in_flight", "payload_bytes", "rate", "duration_s", "messages", "errors",
                "messages_per_s",
                "bytes_per_s", "rtt_us", "server_us", "network_us", "environment",
            ],
            names[..16]);
        Assert.Equal("epoll", json.RootElement.GetProperty("transport").GetString());
        Assert.Equal(2, json.RootElement.GetProperty("schema").GetInt32());
        Assert.Equal(JsonValueKind.Null, json.RootElement.GetProperty("rate").ValueKind);
        foreach (string block in (string[])["rtt_us", "server_us", "network_us"])
        {
            Assert.Equal(
                ["count", "min", "avg", "p50", "p90", "p95", "p99", "p999", "max"],
                json.RootElement.GetProperty(block).EnumerateObject().Select(static p => p.Name).Take(9));
        }

        Assert.Equal(
            ["os", "cpu_count", "runtime", "gc", "commit"], json.RootElement.GetProperty("environment").EnumerateObject()
                .Select(static p => p.Name));
    }

    [Fact]
    public void Has_a_block_per_connection_where_they_were_measured()
    {
        LatencyFigures figures = Results.Before.RoundTrip!;
        LoadResult result =
            Results.Before with { PerConnection = [new(1, 20, 0, 10, figures, figures, figures), new(2, 0, 3, 10, null, null, null)] };
        using JsonDocument json = JsonDocument.Parse(LoadResultWriter.ToUtf8(result));

        JsonElement[] connections = [.. json.RootElement.GetProperty("per_connection").EnumerateArray()];
        Assert.Equal(
            ["connection", "duration_s", "messages", "errors", "rtt_us", "server_us", "network_us"],
            connections[0].EnumerateObject().Select(static p => p.Name));
        Assert.Equal(figures.P95, connections[0].GetProperty("rtt_us").GetProperty("p95").GetDouble());
        Assert.Equal((2, 3), (connections[1].GetProperty("connection").GetInt32(), connections[1].GetProperty("errors").GetInt32()));
        Assert.Equal(JsonValueKind.Null, connections[1].GetProperty("rtt_us").ValueKind);
    }

    [Fact]
    public void Blocks_of_one_way_loads_are_null()
    {
        using JsonDocument json = JsonDocument.Parse(LoadResultWriter.ToUtf8(Results.Sink with { Rate = 5 }));

        Assert.Equal(JsonValueKind.Null, json.RootElement.GetProperty("rtt_us").ValueKind);
        Assert.Equal(JsonValueKind.Null, json.RootElement.GetProperty("server_us").ValueKind);
        Assert.Equal(JsonValueKind.Null, json.RootElement.GetProperty("network_us").ValueKind);
        Assert.Equal(JsonValueKind.Null, json.RootElement.GetProperty("per_connection").ValueKind);
        Assert.Equal(5, json.RootElement.GetProperty("rate").GetDouble());
    }

    [Fact]
    public void What_was_written_is_read_back()
    {
        LoadResult[] results =
        [
            Results.Before, Results.After, Results.Sink, Results.Before with { Transport = null },
            Results.Before with { Rate = 12.5, MissedSends = 4, Reconnects = 2, Interruptions = 3, InterruptedSeconds = 4.5 },
            Results.Before with { WarmUpSeconds = 0.5, Loops = 2, SpinMicroseconds = 20, PinLoops = true },
        ];
        foreach (LoadResult result in results)
        {
            LoadResult read = LoadResultReader.Parse(LoadResultWriter.ToUtf8(result));

            Assert.Equal(result with { ErrorKinds = read.ErrorKinds }, read);
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"schema":2}""")]
    [InlineData("""{"schema":1,"mode":"echo"}""")]
    public void What_is_no_result_is_refused(string text) =>
        Assert.ThrowsAny<JsonException>(() => LoadResultReader.Parse(Encoding.UTF8.GetBytes(text)));

    [Fact]
    public void Another_schema_is_refused_by_name()
    {
        string text = Encoding.UTF8.GetString(LoadResultWriter.ToUtf8(Results.Before))
            .Replace("\"schema\": 2", "\"schema\": 3", StringComparison.Ordinal);

        JsonException e = Assert.Throws<JsonException>(() => LoadResultReader.Parse(Encoding.UTF8.GetBytes(text)));

        Assert.Equal("its schema is 3; this program reads 1 to 2.", e.Message);
    }

    [Fact]
    public void A_result_of_schema_1_is_read()
    {
        string text = Encoding.UTF8.GetString(LoadResultWriter.ToUtf8(Results.Before))
            .Replace("\"schema\": 2", "\"schema\": 1", StringComparison.Ordinal);

        Assert.Equal(Results.Before.RoundTrip, LoadResultReader.Parse(Encoding.UTF8.GetBytes(text)).RoundTrip);
    }

    [Theory]
    [InlineData("0.1.0+abcdef", "abcdef")]
    [InlineData("0.1.0", "unknown")]
    [InlineData("0.1.0+", "unknown")]
    [InlineData(null, "unknown")]
    public void The_commit_comes_from_the_informational_version(string? version, string commit) =>
        Assert.Equal(commit, LoadEnvironment.CommitOf(version));

    [Theory]
    [InlineData("[]", "the JSON at $, line 1, is not that of a result")]
    [InlineData("{\n\"connections\": \"many\"}", "the JSON at $.connections, line 2, is not that of a result")]
    [InlineData("{", "Path: $")]
    [InlineData("{}", "the JSON at $, line 1, is not that of a result")]
    [InlineData("null", "the file holds null")]
    public void A_wrong_file_is_refused_with_its_name_and_the_place(string text, string why)
    {
        InvalidResultException e = Assert.Throws<InvalidResultException>(
            () => LoadResultReader.Parse("other.json", Encoding.UTF8.GetBytes(text)));

        Assert.StartsWith("'other.json' is not a result of a load run (--json): ", e.Message, StringComparison.Ordinal);
        Assert.Contains(why, e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("FastPort.", e.Message, StringComparison.Ordinal);
    }
}
