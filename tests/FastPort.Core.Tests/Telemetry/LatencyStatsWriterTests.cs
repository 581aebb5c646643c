using System.Globalization;
using System.Text.Json;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed class LatencyStatsWriterTests : IDisposable
{
    private const int Written = 5000;
    private const int FilesFailed = 5001;
    private const int FilesRecovered = 5002;
    private const int ConsoleFailed = 5003;
    private const int ConsoleRecovered = 5004;
    private const int ReportFailed = 5006;

    private readonly TemporaryDirectory _directory = new();
    private readonly FakeClock _clock = new();
    private readonly RecordingLogger<LatencyStatsWriter> _logger = new();
    private readonly StringWriter _console = new(CultureInfo.InvariantCulture);
    private readonly LatencyStats _stats;

    public LatencyStatsWriterTests()
    {
        _stats = new LatencyStats(LatencyRole.Client, 100, static type => type == 0x100 ? "Echo" : null, _clock);
        _stats.ForType(0x100).RecordRoundTrip(50_000, 10_000);
    }

    // Local time, two hours ahead of UTC.
    private static string BaseName => $"latency_stats_20260304_070607_client_{Environment.ProcessId}";

    public void Dispose()
    {
        _directory.Dispose();
        _console.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_windows_thread_can_wait_for_the_last_report(bool isStarted) => await WindowThread.RunAsync(() =>
    {
        LatencyStatsWriter writer = Writer(_directory.Path);
        if (isStarted)
        {
            writer.Start();
        }

        writer.DisposeAsync().AsTask().GetAwaiter().GetResult();
    });

    [Fact]
    public async Task The_final_report_is_written_to_three_named_files_and_nothing_else()
    {
        await Writer(_directory["Stats"]).FinishAsync();

        Assert.Equal([$"{BaseName}.csv", $"{BaseName}.json", $"{BaseName}.log"], FileNames(_directory["Stats"]));
    }

    [Fact]
    public async Task The_json_file_holds_the_figures()
    {
        _clock.Advance(TimeSpan.FromSeconds(10));
        _stats.ForType(0x100).RecordError();
        _stats.ForSession(3).RecordRoundTrip(7_000, 1_000);
        await Writer(_directory.Path).FinishAsync();

        using var json = JsonDocument.Parse(File.ReadAllText(_directory[BaseName + ".json"]));
        var root = json.RootElement;
        Assert.Equal(2, root.GetProperty("schema").GetInt32());
        Assert.Equal("client", root.GetProperty("role").GetString());
        Assert.Equal(Environment.ProcessId, root.GetProperty("process_id").GetInt32());
        Assert.Equal(_clock.GetUtcNow().AddSeconds(-10), root.GetProperty("started").GetDateTimeOffset());
        Assert.Equal(_clock.GetUtcNow(), root.GetProperty("written").GetDateTimeOffset());
        Assert.True(root.GetProperty("final").GetBoolean());
        var scopes = root.GetProperty("scopes").EnumerateArray().ToArray();
        Assert.Equal(["all", "type", "session"], scopes.Select(scope => scope.GetProperty("scope").GetString()));
        Assert.Equal("Echo", scopes[1].GetProperty("name").GetString());
        Assert.Equal(0x100, scopes[1].GetProperty("key").GetInt32());
        var lifetime = scopes[0].GetProperty("lifetime");
        Assert.Equal(10, lifetime.GetProperty("seconds").GetDouble());
        Assert.Equal(1, lifetime.GetProperty("messages").GetInt64());
        Assert.Equal(0.1, lifetime.GetProperty("per_s").GetDouble());
        Assert.Equal(1, lifetime.GetProperty("errors").GetInt64());
        Assert.Equal(50, lifetime.GetProperty("round_trip").GetProperty("us").GetProperty("p99").GetDouble());
        Assert.Equal(40, lifetime.GetProperty("network").GetProperty("us").GetProperty("avg").GetDouble());
        Assert.Equal(10, root.GetProperty("recent").GetProperty("server").GetProperty("us").GetProperty("max").GetDouble());
    }

    [Fact]
    public async Task A_report_is_written_at_every_interval_and_the_csv_only_grows()
    {
        var csv = _directory[BaseName + ".csv"];
        await using var writer = Writer(_directory.Path, interval: 60);
        writer.Start();
        await TickAsync(60);
        var first = File.ReadAllText(csv);
        _stats.ForType(0x100).RecordRoundTrip(70_000, 10_000);
        await TickAsync(60);
        var second = File.ReadAllText(csv);
        await writer.FinishAsync();
        var third = File.ReadAllText(csv);

        Assert.Equal(3, _logger.Count(Written));
        Assert.StartsWith(LatencyCsv.Header, first, StringComparison.Ordinal);
        Assert.StartsWith(first, second, StringComparison.Ordinal);
        Assert.StartsWith(second, third, StringComparison.Ordinal);

        // Over all and Echo, three latencies each.
        Assert.Equal([7, 13, 19], new[] { first, second, third }.Select(text => text.Count(character => character == '\n')));
        Assert.Contains(",60,60,all,,all,round_trip,1,0.017,0,50,50,50,50,50,50,50,50,0,0\n", first, StringComparison.Ordinal);
        Assert.Contains(",120,60,type,256,Echo,round_trip,1,0.017,0,70,70,70,70,70,70,70,70,0,0\n", second, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nothing_is_written_before_the_interval_is_over()
    {
        await using var writer = Writer(_directory.Path, interval: 60);
        writer.Start();
        _clock.Advance(TimeSpan.FromSeconds(59));
        Assert.Empty(FileNames(_directory.Path));

        await TickAsync(1);
        Assert.Equal(3, FileNames(_directory.Path).Length);
    }

    [Fact]
    public async Task Log_and_json_are_replaced_whole_with_the_latest_report()
    {
        await using var writer = Writer(_directory.Path);
        writer.Start();
        await TickAsync(60);

        // Somebody who has the old file open keeps reading the old contents: the new ones came by a rename.
        using var old = new StreamReader(new FileStream(
            _directory[BaseName + ".log"], FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete));
        for (var i = 0; i < 999; i++)
        {
            _stats.ForType(0x100).RecordRoundTrip(50_000, 10_000);
        }

        await writer.FinishAsync();

        Assert.Contains("all: 1 message,", await old.ReadToEndAsync(), StringComparison.Ordinal);
        Assert.Contains("all: 1,000 messages", File.ReadAllText(_directory[BaseName + ".log"]), StringComparison.Ordinal);
        Assert.DoesNotContain(FileNames(_directory.Path), name => name.EndsWith(".tmp", StringComparison.Ordinal));
    }

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
    public async Task Two_writers_of_one_second_and_process_have_files_of_their_own()
    {
        await Writer(_directory.Path).FinishAsync();
        await Writer(_directory.Path).FinishAsync();

        Assert.Equal(6, FileNames(_directory.Path).Length);
        Assert.True(File.Exists(_directory[BaseName + "_2.json"]));
    }

    [Fact]
    public async Task The_console_shows_the_interval_and_at_the_end_the_lifetime()
    {
        await using var writer = Writer(_directory.Path, console: true);
        writer.Start();
        await TickAsync(60);
        var interval = _console.ToString();
        await TickAsync(60);
        _console.GetStringBuilder().Clear();
        await writer.FinishAsync();

        Assert.StartsWith("client latency in us, interval of 60.00 s\n", interval, StringComparison.Ordinal);
        Assert.StartsWith("client latency in us, lifetime of 120.00 s\n", _console.ToString(), StringComparison.Ordinal);
        Assert.Contains("type Echo: 1 message,", _console.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Outputs_that_are_off_stay_silent()
    {
        var options = new LatencyStatsOptions
        {
            EnableConsoleOutput = false,
            EnableFileOutput = false,
            OutputDirectory = _directory["Stats"],
        };
        await new LatencyStatsWriter(_stats, options, _logger, _console).FinishAsync();

        Assert.Empty(_console.ToString());
        Assert.False(Directory.Exists(_directory["Stats"]));
        Assert.Equal(1, _logger.Count(Written));
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

    [Fact]
    public async Task Finishing_twice_writes_the_final_report_once()
    {
        var writer = Writer(_directory.Path);
        writer.Start();
        await Task.WhenAll(writer.FinishAsync(), writer.FinishAsync());
        await writer.DisposeAsync();

        Assert.Equal(1, _logger.Count(Written));
        Assert.Throws<InvalidOperationException>(writer.Start);
    }

    [Fact]
    public async Task Starting_twice_is_refused()
    {
        await using var writer = Writer(_directory.Path);
        writer.Start();

        Assert.Throws<InvalidOperationException>(writer.Start);
    }

    [Fact]
    public void Wrong_options_are_refused_by_name()
    {
        var error = Assert.Throws<ArgumentException>(() => Writer(_directory.Path, interval: 0));

        Assert.Contains("LatencyStats:FileWriteIntervalSeconds is 0", error.Message, StringComparison.Ordinal);
    }

    private static string[] FileNames(string directory) =>
        [.. Directory.GetFiles(directory).Select(path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    private LatencyStatsWriter Writer(string directory, int interval = 60, bool console = false)
    {
        var options = new LatencyStatsOptions
        {
            EnableConsoleOutput = console,
            OutputDirectory = directory,
            FileWriteIntervalSeconds = interval,
        };
        return new LatencyStatsWriter(_stats, options, _logger, _console);
    }

    private async Task TickAsync(int seconds)
    {
        _clock.Advance(TimeSpan.FromSeconds(seconds));
        await _logger.WaitForAsync(Written);
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
