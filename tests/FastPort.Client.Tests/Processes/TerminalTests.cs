using System.Text.RegularExpressions;
using FastPort.Client.Tests.Load;
using FastPort.Client.Tests.Support;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Processes;

/// <summary>
/// What a person sees: the program at a pseudo-terminal, made by <c>script</c> of util-linux. Where there is none, nothing is tested here.
/// </summary>
public sealed partial class TerminalTests : IDisposable
{
    private const string CtrlC = "\u0003";

    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-client-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData(80)]
    [InlineData(40)]
    public async Task The_line_fits_the_width_and_leaves_no_rest(int columns)
    {
        if (!Terminal.Exists)
        {
            return;
        }

        using var terminal = new Terminal(_directory, columns, "load --connections 2 --warmup 0s --duration 2500ms");

        Assert.Equal(0, await terminal.EndAsync());

        Screen screen = Screen.Of(terminal.Output, columns);
        string[] shown = [.. screen.Seen.Where(static text => ProgressText().IsMatch(text))];
        Assert.NotEmpty(shown);
        Assert.All(shown, text => Assert.InRange(text.Length, 10, columns - 3));
        Assert.DoesNotContain(screen.Lines, static line => ProgressText().IsMatch(line));
        Assert.Contains(screen.Lines, static line => line.Contains("messages in", StringComparison.Ordinal));
        Assert.Equal(
            screen.Lines.Length - 1, Array.FindLastIndex(screen.Lines, static line => line.Contains("Stopped", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Without_progress_nothing_is_written_over()
    {
        if (!Terminal.Exists)
        {
            return;
        }

        using var terminal = new Terminal(_directory, 80, "load --connections 2 --warmup 0s --duration 1500ms --no-progress");

        Assert.Equal(0, await terminal.EndAsync());

        Assert.DoesNotContain("\u001b[K", terminal.Output, StringComparison.Ordinal);
        Assert.Contains("messages in", terminal.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Ctrl_C_ends_the_run_with_its_report()
    {
        if (!Terminal.Exists)
        {
            return;
        }

        using var terminal = new Terminal(_directory, 80, "load --connections 2 --warmup 0s --duration 10m");
        await terminal.UntilAsync(" messages/s  p50 ");

        terminal.Type(CtrlC);

        Assert.Equal(0, await terminal.EndAsync());
        Screen screen = Screen.Of(terminal.Output, 80);
        Assert.Contains(screen.Lines, static line => line.Contains("messages in", StringComparison.Ordinal));
        Assert.DoesNotContain(
            screen.Lines, static line => line.Contains("p50", StringComparison.Ordinal) || line.Contains("^C", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_second_Ctrl_C_ends_at_once_with_what_a_shell_expects()
    {
        if (!Terminal.Exists)
        {
            return;
        }

        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapQueued(
            DiagnosticType.Echo, static async context => await Task.Delay(Timeout.Infinite, context.Aborted)));
        using var terminal = new Terminal(_directory, 80, $"load --server {server.Uri()} --connections 2 --warmup 0s --duration 10m");
        await terminal.UntilAsync(" messages/s");
        terminal.Type(CtrlC);
        await terminal.UntilAsync("Ctrl+C again ends at once");

        terminal.Type(CtrlC);

        Assert.Equal(130, await terminal.EndAsync());
        Screen screen = Screen.Of(terminal.Output, 80);
        Assert.DoesNotContain(screen.Lines, static line => line.Contains("messages in", StringComparison.Ordinal));
        Assert.DoesNotContain(screen.Lines, static line => line.Contains("again", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(60, 24)]
    [InlineData(40, 12)]
    public async Task Top_fits_the_terminal(int columns, int rows)
    {
        if (!Terminal.Exists)
        {
            return;
        }

        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapQueued(
            DiagnosticType.Status,
            static context =>
            {
                context.Reply(new ProtobufBody(new ServerStatus
                {
                    ServerName = "a plant with a name that is longer than a narrow terminal has columns",
                    UptimeMs = (ulong)Environment.TickCount64,
                    MessagesIn = 1_000_000,
                    LoopIdleUs = { 7, 8 },
                    Latencies =
                    {
                        Enumerable.Range(1, 30).Select(static i => new MessageLatency
                        {
                            Name = $"Type{i}",
                            Nanoseconds = { 123_456 },
                            Counts = { 77 },
                        }),
                    },
                }));
                return ValueTask.CompletedTask;
            }));
        using var terminal = new Terminal(_directory, columns, $"top --server {server.Uri()} --interval 100 --count 3", rows);

        Assert.Equal(0, await terminal.EndAsync());

        // One picture: what was shown first is written over.
        string[] lines = Screen.Of(terminal.Output, columns).Lines;
        Assert.InRange(lines.Length, 8, rows - 1);
        Assert.StartsWith("a plant with a name", lines[0], StringComparison.Ordinal);
        Assert.Contains(lines, static line => line.StartsWith("loops ", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.StartsWith("Type1 ", StringComparison.Ordinal));
        Assert.Matches("^and [0-9]+ more$", lines[^1]);
    }

    [GeneratedRegex("^([0-9]+ of 2.5 s  )?[0-9,]+( messages)?/s  p")]
    private static partial Regex ProgressText();
}
