using System.Text;
using System.Text.Json;
using FastPort.Client.Reports;
using FastPort.Telemetry.Reports.Html;
using Xunit;

namespace FastPort.Client.Tests.Reports;

public sealed class ComparisonTableTests
{
    [Fact]
    public void Shows_before_after_and_change_as_text()
    {
        string[] lines = ComparisonTable.Text(Of(Results.Before, Results.After)).Split('\n');

        Assert.Equal("                         before       after   change", lines[0]);
        Assert.Equal("messages/s                5,330       9,992  +87.5 %", lines[1]);
        Assert.Equal("duration s                10.00       10.00    0.0 %", lines[4]);
        Assert.Equal("errors                        0           3        -", lines[5]);
        Assert.Equal("reconnects                    0           4        -", lines[6]);
        Assert.Contains("round trip avg us     96,030.00   51,240.00  -46.6 %", lines);
        Assert.Contains("server avg us            234.00       12.00  -94.9 %", lines);
        Assert.Contains("round trip P99/avg         2.27        1.23  -45.8 %", lines);
        Assert.Equal(1 + 6 + (3 * 9) + 1, lines.Length);
    }

    [Fact]
    public void Shows_missed_sends_of_open_loops()
    {
        Comparison comparison = Of(Results.Before with { MissedSends = 200 }, Results.After with { MissedSends = 50 });

        Assert.Contains(comparison.Rows, static row => row.Cells is ["missed sends", "200", "50", "-75.0 %"]);
    }

    [Fact]
    public void Texts_of_a_file_do_not_control_the_terminal()
    {
        Comparison comparison = Of(Results.Before, Results.Before with { Environment = Results.Here with { Os = "L\u001B[2Jinux" } });

        Assert.Equal([@"os differs: Linux before, L\u001B[2Jinux after."], comparison.Differences);
    }

    [Fact]
    public void Shows_the_same_as_Markdown()
    {
        string[] lines = ComparisonTable.Markdown(Of(Results.Before, Results.After)).Split('\n');

        Assert.Equal("|                     |     before |      after |  change |", lines[0]);
        Assert.Equal("| ------------------- | ---------: | ---------: | ------: |", lines[1]);
        Assert.Equal("| messages/s          |      5,330 |      9,992 | +87.5 % |", lines[2]);
    }

    [Fact]
    public void Leaves_out_the_latencies_of_one_way_loads()
    {
        Comparison comparison = Of(Results.Sink, Results.Sink);

        Assert.Equal(
            ["messages/s", "payload MB/s", "messages", "duration s", "errors", "reconnects"], comparison.Rows.Select(static r => r.Name));
        Assert.Equal("0.0 %", comparison.Rows[4].Cells[3]);
    }

    [Fact]
    public void Says_in_what_the_runs_differ()
    {
        Comparison comparison = Of(
            Results.Before,
            Results.Before with { Connections = 64, Rate = 100, Transport = "sockets", Environment = Results.Here with { CpuCount = 8 } });

        Assert.Equal(
            [
                "connections differs: 32 before, 64 after.", "rate differs: none before, 100 after.",
                "transport differs: epoll before, sockets after.",
                "cpu_count differs: 2 before, 8 after.",
            ],
            comparison.Differences);
        Assert.StartsWith(
            "The two runs are not the same test:\n- connections differs: 32 before, 64 after.\n", ComparisonTable.Text(comparison),
            StringComparison.Ordinal);
        Assert.StartsWith(
            "The two runs are not the same test:\n\n- connections differs: 32 before, 64 after.\n", ComparisonTable.Markdown(comparison),
            StringComparison.Ordinal);
    }

    [Fact]
    public void Says_in_what_warm_up_and_loops_differ()
    {
        LoadResult before = Results.Before with { WarmUpSeconds = 2 };
        LoadResult after = Results.Before with { WarmUpSeconds = 0.5, Loops = 1, SpinMicroseconds = 0, PinLoops = true };

        Assert.Equal(
            [
                "warmup_s differs: 2 before, 0.5 after.", "loops differs: none before, 1 after.", "spin_us differs: none before, 0 after.",
                "pin_loops differs: none before, True after.",
            ],
            Of(before, after).Differences);
    }

    [Fact]
    public void What_one_of_the_results_does_not_tell_is_no_difference()
    {
        byte[] old = Encoding.UTF8.GetBytes(Encoding.UTF8.GetString(LoadResultWriter.ToUtf8(Results.Before))
            .Replace("\"transport\": \"epoll\",", string.Empty, StringComparison.Ordinal)
            .Replace("\"warmup_s\": null,", string.Empty, StringComparison.Ordinal));

        Assert.Empty(Differences(old, LoadResultWriter.ToUtf8(Results.Before with { Transport = "sockets", WarmUpSeconds = 2 })));
    }

    [Theory]
    [InlineData(10, 10.2, 0)]
    [InlineData(10, 5, 1)]
    public void Runs_of_different_length_are_told(double before, double after, int differences) => Assert.Equal(
        differences,
        Of(Results.Before with { DurationSeconds = before }, Results.Before with { DurationSeconds = after }).Differences.Count);

    [Fact]
    public void Shows_the_rate_asked_for_beside_the_rate_reached_and_the_interruptions()
    {
        Comparison comparison = Of(
            Results.Before with { Rate = 8000, Interruptions = 0 }, Results.After with { Rate = 10_000, Interruptions = 2 });

        string[] lines = ComparisonTable.Text(comparison, colored: true).Split('\n');

        Assert.Equal(["messages/s", "messages/s asked for"], comparison.Rows.Take(2).Select(static row => row.Name));
        Assert.Contains(comparison.Rows, static row => row.Cells is ["interruptions", "0", "2", "-"]);
        Assert.Contains(lines, static line => line.StartsWith("\u001b[31minterruptions", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.StartsWith("\u001b[31merrors", StringComparison.Ordinal));
        Assert.DoesNotContain('\u001b', ComparisonTable.Text(comparison));
    }

    private static Comparison Of(LoadResult before, LoadResult after) => new(
        before, after, Differences(LoadResultWriter.ToUtf8(before), LoadResultWriter.ToUtf8(after)));

    private static IReadOnlyList<string> Differences(byte[] before, byte[] after) => MeasurementDifferences.Find(
        JsonDocument.Parse(before).RootElement, JsonDocument.Parse(after).RootElement);
}
