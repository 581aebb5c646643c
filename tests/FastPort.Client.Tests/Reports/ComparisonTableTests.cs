using FastPort.Client.Reports;
using Xunit;

namespace FastPort.Client.Tests.Reports;

public sealed class ComparisonTableTests
{
    [Fact]
    public void Shows_before_after_and_change_as_text()
    {
        string[] lines = ComparisonTable.Text(new Comparison(Results.Before, Results.After)).Split('\n');

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
        Comparison comparison = new(Results.Before with { MissedSends = 200 }, Results.After with { MissedSends = 50 });

        Assert.Contains(comparison.Rows, static row => row.Cells is ["missed sends", "200", "50", "-75.0 %"]);
    }

    [Fact]
    public void Texts_of_a_file_do_not_control_the_terminal()
    {
        Comparison comparison = new(Results.Before, Results.Before with { Environment = Results.Here with { Os = "L\u001B[2Jinux" } });

        Assert.Equal([@"os differs: Linux before, L\u001B[2Jinux after."], comparison.Differences);
    }

    [Fact]
    public void Shows_the_same_as_Markdown()
    {
        string[] lines = ComparisonTable.Markdown(new Comparison(Results.Before, Results.After)).Split('\n');

        Assert.Equal("|                     |     before |      after |  change |", lines[0]);
        Assert.Equal("| ------------------- | ---------: | ---------: | ------: |", lines[1]);
        Assert.Equal("| messages/s          |      5,330 |      9,992 | +87.5 % |", lines[2]);
    }

    [Fact]
    public void Leaves_out_the_latencies_of_one_way_loads()
    {
        Comparison comparison = new(Results.Sink, Results.Sink);

        Assert.Equal(
            ["messages/s", "payload MB/s", "messages", "duration s", "errors", "reconnects"], comparison.Rows.Select(static r => r.Name));
        Assert.Equal("0.0 %", comparison.Rows[4].Cells[3]);
    }

    [Fact]
    public void Says_in_what_the_runs_differ()
    {
        Comparison comparison = new(
            Results.Before,
            Results.Before with { Connections = 64, Rate = 100, Transport = "sockets", Environment = Results.Here with { CpuCount = 8 } });

        Assert.Equal(
            [
                "connections differs: 32 before, 64 after.", "rate differs: none before, 100 after.",
                "transport differs: epoll before, sockets after.",
                "cpu_count differs: 2 before, 8 after.",
            ],
            comparison.Differences);
        Assert.EndsWith("cpu_count differs: 2 before, 8 after.\n", ComparisonTable.Text(comparison), StringComparison.Ordinal);
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
            new Comparison(before, after).Differences);
    }

    [Fact]
    public void A_result_that_does_not_tell_its_transport_and_warm_up_differs_from_none() => Assert.Empty(
        new Comparison(Results.Before with { Transport = null }, Results.Before with { WarmUpSeconds = 2, Loops = 1 }).Differences);
}
