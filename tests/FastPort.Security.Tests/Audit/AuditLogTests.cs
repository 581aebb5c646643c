using System.Text;
using System.Text.Json;
using FastPort.Security.Audit;
using FastPort.Security.Tests.Support;
using FsCheck;
using FsCheck.Fluent;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Security.Tests.Audit;

public sealed class AuditLogTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Whatever_a_peer_says_a_line_is_one_line_and_says_it_back() => Prop.ForAll<string, string, string>(static (a, b, c) =>
    {
        using var stream = new MemoryStream();

        AuditLog.Write(stream, DateTimeOffset.UnixEpoch, new AuditEvent("x", 7, a, b, ("detail", c ?? string.Empty)));

        byte[] line = stream.ToArray();
        using var document = JsonDocument.Parse(line);
        JsonElement root = document.RootElement;
        return Array.TrueForAll(line[..^1], static one => one is >= 0x20 and < 0x7F) && line[^1] == (byte)'\n'
            && (a is null || root.GetProperty("remote").GetString() == Clean(a))
            && (b is null || root.GetProperty("user").GetString() == Clean(b))
            && root.GetProperty("detail").GetString() == Clean(c ?? string.Empty);
    }).Check(Config.QuickThrowOnFailure.WithMaxTest(2000));

    [Fact]
    public void Whatever_a_certificate_says_its_line_is_one_line_and_says_it_back() => Prop.ForAll<string, string>(static (a, b) =>
    {
        using var stream = new MemoryStream();
        var certificate = new CertificateInfo(a ?? string.Empty, b ?? string.Empty, "AB", DateTimeOffset.UnixEpoch);

        AuditLog.Write(stream, DateTimeOffset.UnixEpoch, AuditEvent.Of("x", certificate));

        byte[] line = stream.ToArray();
        using var document = JsonDocument.Parse(line);
        JsonElement root = document.RootElement;
        return Array.TrueForAll(line[..^1], static one => one is >= 0x20 and < 0x7F) && line[^1] == (byte)'\n'
            && root.GetProperty("source").GetString() == Clean(certificate.Source)
            && root.GetProperty("subject").GetString() == Clean(certificate.Subject)
            && root.GetProperty("thumbprint").GetString() == "AB"
            && root.GetProperty("notAfter").GetString() == "1970-01-01T00:00:00Z";
    }).Check(Config.QuickThrowOnFailure.WithMaxTest(1000));

    [Theory]
    [InlineData("\n{\"event\":\"forged\"}\n")]
    [InlineData("\u2028\u0000\u001b[31m\ud800\"}")]
    public void A_forged_line_stays_a_value(string text)
    {
        using var stream = new MemoryStream();

        AuditLog.Write(stream, DateTimeOffset.UnixEpoch, new AuditEvent("x", User: text));

        using var document = JsonDocument.Parse(Encoding.ASCII.GetString(stream.ToArray()).TrimEnd('\n'));
        Assert.Equal(["time", "event", "user"], document.RootElement.EnumerateObject().Select(static p => p.Name));
        Assert.Equal(1, stream.ToArray().Count(static one => one == '\n'));
    }

    [Fact]
    public async Task Events_are_appended_and_a_renamed_file_is_begun_anew()
    {
        string file = _directory["audit.jsonl"];
        await File.WriteAllTextAsync(file, "before\n", TestContext.Current.CancellationToken);
        await using (var log = new AuditLog(file, TimeProvider.System, _log))
        {
            log.Add(new AuditEvent("first"));
            await Patience.UntilAsync(() => File.ReadAllText(file).Contains("first", StringComparison.Ordinal), "the first was written");
            File.Move(file, _directory["audit.1.jsonl"]);
            log.Add(new AuditEvent("second"));
        }

        string renamed = await File.ReadAllTextAsync(_directory["audit.1.jsonl"], TestContext.Current.CancellationToken);
        Assert.StartsWith("before\n", renamed, StringComparison.Ordinal);
        string line = Assert.Single(await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken));
        Assert.Contains("\"event\":\"second\"", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_disk_that_fails_is_logged_once_and_what_was_lost_is_counted()
    {
        string folder = _directory["logs"];
        Directory.CreateDirectory(folder);
        string file = Path.Combine(folder, "audit.jsonl");
        await using (var log = new AuditLog(file, TimeProvider.System, _log))
        {
            Directory.Delete(folder, recursive: true);
            log.Add(new AuditEvent("lost"));
            await Patience.UntilAsync(() => _log.WithId(9110).Count == 1, "the failure was logged");
            Directory.CreateDirectory(folder);
            log.Add(new AuditEvent("kept"));
        }

        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        Assert.Equal(2, lines.Length);
        Assert.Contains("\"event\":\"kept\"", lines[0], StringComparison.Ordinal);
        Assert.Contains("\"event\":\"audit.dropped\",\"count\":\"1\"", lines[1], StringComparison.Ordinal);
        Assert.Single(_log.WithId(9110));
    }

    [Fact]
    public async Task A_log_that_throws_costs_its_line_and_not_the_audit()
    {
        string folder = _directory["logs"];
        Directory.CreateDirectory(folder);
        string file = Path.Combine(folder, "audit.jsonl");
        var throwing = new ThrowingLog();
        await using (var log = new AuditLog(file, TimeProvider.System, throwing))
        {
            Directory.Delete(folder, recursive: true);
            log.Add(new AuditEvent("lost"));
            await Patience.UntilAsync(() => throwing.Calls == 1, "the failure was logged");
            Directory.CreateDirectory(folder);
            log.Add(new AuditEvent("kept"));
        }

        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        Assert.Contains("\"event\":\"kept\"", lines[0], StringComparison.Ordinal);
        Assert.Contains("\"event\":\"audit.dropped\",\"count\":\"1\"", lines[1], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Events_of_messages_leave_room_for_those_of_sessions_and_bans()
    {
        string folder = _directory["logs"];
        Directory.CreateDirectory(folder);
        string file = Path.Combine(folder, "audit.jsonl");
        using var blocked = new BlockingLog();
        await using (var log = new AuditLog(file, TimeProvider.System, blocked))
        {
            Directory.Delete(folder, recursive: true);
            log.Add(new AuditEvent("lost"));
            blocked.Entered.Wait(Patience.Token);

            for (int i = 0; i < 100_000; i++)
            {
                log.Add(new AuditEvent("message.refused"));
            }

            log.Add(new AuditEvent("session.identified"));
            log.Add(new AuditEvent("ban.added"));
            Directory.CreateDirectory(folder);
            blocked.Release.Set();
        }

        string text = await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken);
        Assert.Contains("\"event\":\"message.refused\"", text, StringComparison.Ordinal);
        Assert.Contains("\"event\":\"session.identified\"", text, StringComparison.Ordinal);
        Assert.Contains("\"event\":\"ban.added\"", text, StringComparison.Ordinal);
        Assert.Contains("\"event\":\"audit.dropped\"", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Events_of_many_threads_are_all_there()
    {
        string file = _directory["audit.jsonl"];
        await using (var log = new AuditLog(file, TimeProvider.System, _log))
        {
            Parallel.For(0, 5000, i => log.Add(new AuditEvent($"e{i}")));
        }

        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        Assert.Equal(5000, lines.Select(static l => JsonDocument.Parse(l).RootElement.GetProperty("event").GetString()).Distinct().Count());
    }

    [Fact]
    public async Task Two_logs_of_one_file_lose_no_line()
    {
        string file = _directory["audit.jsonl"];
        await using (var one = new AuditLog(file, TimeProvider.System, _log))
        await using (var other = new AuditLog(Path.Combine(_directory["x"], "..", "audit.jsonl"), TimeProvider.System, _log))
        {
            Parallel.For(0, 10_000, i => (i % 2 == 0 ? one : other).Add(new AuditEvent($"e{i}")));
        }

        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        Assert.Equal(
            10_000, lines.Select(static l => JsonDocument.Parse(l).RootElement.GetProperty("event").GetString()).Distinct().Count());
    }

    // As another process does, which no turn holds back.
    [Fact]
    public async Task On_Linux_what_another_has_written_since_the_file_was_opened_stays()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Linux appends by itself.");
        string file = _directory["audit.jsonl"];
        await using FileStream first = AuditLog.Open(file);
        await using FileStream second = AuditLog.Open(file);

        await first.WriteAsync("first\n"u8.ToArray(), TestContext.Current.CancellationToken);
        await second.WriteAsync("second\n"u8.ToArray(), TestContext.Current.CancellationToken);
        await first.WriteAsync("third\n"u8.ToArray(), TestContext.Current.CancellationToken);

        Assert.Equal(["first", "second", "third"], await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken));
    }

    [Theory]
    [InlineData("{\"half", 1)]
    [InlineData("{\"whole\":1}\n", 1)]
    [InlineData("", 0)]
    public async Task A_line_that_was_cut_costs_no_other_one(string before, int linesBefore)
    {
        string file = _directory["audit.jsonl"];
        await File.WriteAllTextAsync(file, before, TestContext.Current.CancellationToken);
        await using (var log = new AuditLog(file, TimeProvider.System, _log))
        {
            log.Add(new AuditEvent("next"));
        }

        string[] lines = await File.ReadAllLinesAsync(file, TestContext.Current.CancellationToken);
        Assert.Equal(linesBefore + 1, lines.Length);
        Assert.Equal("next", JsonDocument.Parse(lines[^1]).RootElement.GetProperty("event").GetString());
    }

    // Halves of surrogate pairs are no text: they become the replacement character.
    private static string Clean(string text) => Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));

    /// <summary>Holds the thread that logs a line.</summary>
    private sealed class BlockingLog : ILogger, IDisposable
    {
        public ManualResetEventSlim Entered { get; } = new();

        public ManualResetEventSlim Release { get; } = new();

        public bool IsEnabled(LogLevel logLevel) => true;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            Entered.Set();
            Release.Wait(Patience.Token);
        }

        public void Dispose()
        {
            Entered.Dispose();
            Release.Dispose();
        }
    }
}
