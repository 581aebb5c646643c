using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

/// <content>Files, consoles, counts and loggers that fail.</content>
public sealed partial class LatencyStatsWriterTests
{
    [Fact]
    public async Task While_the_disk_fails_the_rows_of_many_sessions_wait_within_a_bound()
    {
        for (ulong session = 1; session <= 5_000; session++)
        {
            _stats.ForSession(session).RecordRoundTrip(7_000, 1_000);
        }

        File.WriteAllText(_directory["blocked"], "");
        var files = new LatencyStatsFiles(
            new LatencyStatsOptions { OutputDirectory = Path.Combine(_directory["blocked"], "Stats") }, _clock.GetUtcNow(),
            LatencyRole.Client);
        for (int i = 0; i < 10; i++)
        {
            await files.WriteAsync(_stats.Read(), final: false);
        }

        Assert.InRange(files.PendingCharacters, 1_000_000, AppendedFile.MaxPendingCharacters);
    }

    [Fact]
    public async Task A_failing_directory_costs_one_warning_and_counts_until_it_recovers()
    {
        // A regular file where the directory should be fails for every user, root too.
        File.WriteAllText(_directory["blocked"], "");
        var output = Path.Combine(_directory["blocked"], "Stats");
        await using var writer = Writer(output);
        writer.Start();
        await TickAsync(60);
        await TickAsync(60);

        Assert.Equal(6, writer.FailedWrites);
        var warning = Assert.Single(_logger.Entries, entry => entry.Level == LogLevel.Warning);
        Assert.Equal(FilesFailed, warning.Id);
        Assert.Contains(output, warning.Message, StringComparison.Ordinal);

        File.Delete(_directory["blocked"]);
        await TickAsync(60);
        await TickAsync(60);

        Assert.Equal(6, writer.FailedWrites);
        Assert.Equal(1, _logger.Count(FilesRecovered));
        Assert.Equal([$"{BaseName}.csv", $"{BaseName}.json", $"{BaseName}.log"], FileNames(output));

        // The intervals of the bad time are not lost: header and four intervals of six rows.
        Assert.Equal(25, File.ReadAllLines(Path.Combine(output, BaseName + ".csv")).Length);

        Directory.Delete(output, recursive: true);
        File.WriteAllText(output, "");
        await writer.FinishAsync();

        Assert.Equal(2, _logger.Count(FilesFailed));
        Assert.Equal(9, writer.FailedWrites);
        File.Delete(output);
    }

    [Fact]
    public async Task A_directory_that_vanishes_is_made_again()
    {
        var output = _directory["Stats"];
        await using var writer = Writer(output);
        writer.Start();
        await TickAsync(60);
        Directory.Delete(output, recursive: true);
        await TickAsync(60);

        Assert.Equal(0, writer.FailedWrites);
        Assert.Equal(3, FileNames(output).Length);
        Assert.StartsWith(LatencyCsv.Header, File.ReadAllText(Path.Combine(output, BaseName + ".csv")), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Rows_cut_short_by_a_failure_are_written_again_whole()
    {
        var csv = _directory[BaseName + ".csv"];
        await using var writer = Writer(_directory.Path);
        writer.Start();
        await TickAsync(60);
        var whole = File.ReadAllText(csv);
        File.AppendAllText(csv, "2026-03-04T05:0");
        await TickAsync(60);
        var lines = File.ReadAllLines(csv);

        Assert.StartsWith(whole, File.ReadAllText(csv), StringComparison.Ordinal);
        Assert.Equal(13, lines.Length);
        Assert.All(lines.Skip(1), line => Assert.Matches("^2026-03-04T05:0[78]:07.000Z,", line));
    }

    [Fact]
    public async Task Rows_of_a_long_failure_are_bounded()
    {
        File.WriteAllText(_directory["blocked"], "");
        await using var writer = Writer(_directory["blocked"], interval: 1);
        writer.Start();
        for (var i = 0; i < 70; i++)
        {
            await TickAsync(1);
        }

        File.Delete(_directory["blocked"]);
        await TickAsync(1);

        // The last 64 of 71 intervals, six rows each.
        var lines = File.ReadAllLines(Path.Combine(_directory["blocked"], BaseName + ".csv"));
        Assert.Equal(1 + (64 * 6), lines.Length);
        Assert.StartsWith("2026-03-04T05:06:15.000Z,8,1,all", lines[1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task One_file_that_fails_does_not_keep_the_others_from_being_written()
    {
        Directory.CreateDirectory(_directory[BaseName + ".json"]);
        await using var writer = Writer(_directory.Path);
        await writer.FinishAsync();

        Assert.Equal(1, writer.FailedWrites);
        Assert.True(File.Exists(_directory[BaseName + ".log"]));
        Assert.True(File.Exists(_directory[BaseName + ".csv"]));
        Assert.False(File.Exists(_directory[BaseName + ".json.tmp"]));
    }

    [Fact]
    public async Task A_failing_console_costs_one_warning_and_not_the_files()
    {
        using var console = new BrokenConsole { Broken = true };
        var options = new LatencyStatsOptions { OutputDirectory = _directory.Path };
        await using var writer = new LatencyStatsWriter(_stats, options, _logger, console);
        writer.Start();
        await TickAsync(60);
        await TickAsync(60);
        Assert.Equal(2, writer.FailedWrites);
        Assert.Equal(1, _logger.Count(ConsoleFailed));
        Assert.Equal(3, FileNames(_directory.Path).Length);

        console.Broken = false;
        await TickAsync(60);
        Assert.Equal(1, _logger.Count(ConsoleRecovered));
    }

    [Fact]
    public async Task A_count_that_throws_costs_one_report_and_no_message()
    {
        bool isBroken = false;
        _stats.AddCount("a", "read", () => isBroken ? throw new InvalidOperationException("broken") : 5);
        var writer = Writer(_directory.Path);
        writer.Start();
        isBroken = true;
        _clock.Advance(TimeSpan.FromSeconds(60));
        await _logger.WaitForAsync(ReportFailed);
        _clock.Advance(TimeSpan.FromSeconds(60));
        await Patience.UntilAsync(() => writer.FailedWrites == 2, "the second report failed");
        isBroken = false;
        await TickAsync(60);
        isBroken = true;
        await writer.FinishAsync();

        Assert.Contains(
            ",180,180,all,,all,round_trip,1,0.006,0,50,", File.ReadAllText(_directory[BaseName + ".csv"]), StringComparison.Ordinal);
        Assert.Equal((3, 1, 2), (writer.FailedWrites, _logger.Count(Written), _logger.Count(ReportFailed)));
    }

    [Fact]
    public async Task After_a_report_that_failed_the_last_one_is_written()
    {
        bool isBroken = false;
        _stats.AddCount("a", "read", () => isBroken ? throw new InvalidOperationException("broken") : 5);
        var writer = Writer(_directory.Path);
        writer.Start();
        isBroken = true;
        _clock.Advance(TimeSpan.FromSeconds(60));
        await _logger.WaitForAsync(ReportFailed);
        isBroken = false;
        await writer.FinishAsync();

        Assert.Equal(1, _logger.Count(Written));
        Assert.Equal(3, FileNames(_directory.Path).Length);
    }

    [Fact]
    public async Task A_logger_that_throws_costs_its_lines()
    {
        var writer = new LatencyStatsWriter(
            _stats,
            new LatencyStatsOptions { EnableConsoleOutput = false, OutputDirectory = _directory.Path },
            new ThrowingLogger(_logger),
            _console);
        writer.Start();
        await TickAsync(60);
        await TickAsync(60);
        await writer.FinishAsync();

        Assert.Equal((0, 3), (writer.FailedWrites, _logger.Count(Written)));
    }

    private sealed class ThrowingLogger(ILogger inner) : ILogger<LatencyStatsWriter>
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            inner.Log(logLevel, eventId, state, exception, formatter);
            throw new IOException("The disk is full.");
        }
    }

    private sealed class BrokenConsole : StringWriter
    {
        public bool Broken { get; set; }

        public override Task WriteAsync(string? value) =>
            Broken ? Task.FromException(new IOException("Broken pipe")) : base.WriteAsync(value);
    }
}
