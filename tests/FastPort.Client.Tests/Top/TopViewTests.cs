using System.Text;
using FastPort.Client.Top;
using FastPort.Protocol;
using Spectre.Console;
using Xunit;

namespace FastPort.Client.Tests.Top;

public sealed class TopViewTests
{
    [Theory]
    [InlineData(120, 30)]
    [InlineData(80, 24)]
    [InlineData(60, 12)]
    [InlineData(40, 24)]
    [InlineData(40, 12)]
    [InlineData(20, 12)]
    public void Fits_the_terminal(int width, int height)
    {
        string[] lines = Render(Status(types: 9), width, height);

        Assert.InRange(lines.Length, 5, height);
        Assert.All(lines, line => Assert.InRange(line.Length, 1, width));
        Assert.Contains(lines, static line => line.StartsWith("in 1,500 messages/s", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains("loops 25% 50%", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains("7 errors sent (+7/s)", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(100, "decode to send", "per s", "P50", "P99", "P99.9", "max", "errors")]
    [InlineData(60, "decode to send", "per s", "P50", "P99", "max", "errors")]
    [InlineData(40, "decode to send", "per s", "P99", "errors")]
    public void Columns_that_do_not_fit_are_left_out_and_not_cut(int width, params string[] headings)
    {
        string[] lines = Render(Status(types: 2), width, 24);
        string table = Assert.Single(lines, static line => line.StartsWith("decode to send", StringComparison.Ordinal));

        Assert.Equal(headings, table.Split("  ", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));
        Assert.Contains(lines, static line => line.StartsWith("Type1", StringComparison.Ordinal) && line.EndsWith('1'));
    }

    [Fact]
    public void Types_without_room_are_counted()
    {
        string[] lines = Render(Status(types: 9), 80, 12);

        Assert.Equal(12, lines.Length);
        int shown = lines.Count(static line => line.StartsWith("Type", StringComparison.Ordinal));
        Assert.InRange(shown, 2, 8);
        Assert.Equal($"and {9 - shown} more", lines[^1]);
        Assert.DoesNotContain(Render(Status(types: 9), 80, 30), static line => line.Contains("more", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("rate", "Type9")]
    [InlineData("p99", "Type1")]
    [InlineData("errors", "Type9")]
    [InlineData("name", "Type1")]
    public void Types_are_sorted(string sort, string first)
    {
        string[] lines = Render(Status(types: 9), 80, 30, sort);

        Assert.StartsWith(first, lines.First(static line => line.StartsWith("Type", StringComparison.Ordinal)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_count_of_one_has_a_singular_noun()
    {
        ServerStatus status = Status(types: 1);
        status.ErrorsSent = 1;
        status.SessionsOpen = 1;
        status.ConnectionsOpen = 2;

        string text = string.Join('\n', Render(status, 120, 30));

        Assert.Matches(@"\b1 session\b", text);
        Assert.Matches(@"\b1 error sent\b", text);
        Assert.Contains("2 connections (", text, StringComparison.Ordinal);
        Assert.Contains("0 subscriptions", text, StringComparison.Ordinal);
    }

    // Type n has n times 100 messages, n errors, and a latency of 10 - n milliseconds.
    private static ServerStatus Status(int types)
    {
        var status = new ServerStatus
        {
            ServerName = "Plant",
            UptimeMs = 1000,
            MessagesIn = 1500,
            BytesIn = 230_000,
            ErrorsSent = 7,
            LoopIdleUs = { 750_000, 500_000 },
        };
        for (uint i = 1; i <= types; i++)
        {
            status.Latencies.Add(new MessageLatency
            {
                Name = $"Type{i}",
                Errors = i,
                Nanoseconds = { (10 - i) * 1_000_000 },
                Counts = { i * 100 },
            });
        }

        return status;
    }

    private static string[] Render(ServerStatus status, int width, int height, string sort = "rate")
    {
        var output = new StringWriter(new StringBuilder());
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(output),
        });
        console.Profile.Width = width;
        console.Write(new TopView("tcp://127.0.0.1:6628", sort).Of(TopFigures.Between(new ServerStatus(), status), width, height));
        return [.. output.ToString().TrimEnd('\n').Split('\n').Select(static line => line.TrimEnd())];
    }
}
