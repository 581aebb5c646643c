using System.Globalization;
using System.Text.Json;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed partial class LatencyStatsWriterTests : IDisposable
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
}
