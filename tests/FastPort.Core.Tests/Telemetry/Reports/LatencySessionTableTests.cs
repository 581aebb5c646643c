using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

public sealed class LatencySessionTableTests
{
    private readonly FakeClock _clock = new();
    private readonly LatencyStats _stats;

    public LatencySessionTableTests() => _stats = new LatencyStats(LatencyRole.Client, time: _clock);

    [Fact]
    public void A_console_shows_every_session_in_a_row_the_slowest_first()
    {
        _stats.ForSession(7).RecordRoundTrip(10_000, 1_000);
        _stats.ForSession(8).RecordRoundTrip(30_000, 2_000);
        _stats.ForSession(8).RecordRoundTrip(20_000, 2_000);
        _stats.ForSession(8).RecordError();

        string[] lines = Lines(LatencyTable.Lifetime(_stats.Read()));

        Assert.Equal("sessions: round trip in us, then server and network; highest P99 first", lines[0]);
        Assert.Equal(
            ["session", "messages", "errors", "avg", "P50", "P95", "P99", "max", "P99/avg", "server", "avg", "network", "avg"],
            Words(lines[1]));
        Assert.Equal(["8", "2", "1", "25.00", "20.00", "30.00", "30.00", "30.00", "1.20", "2.000", "23.00"], Words(lines[2]));
        Assert.Equal(["7", "1", "0", "10.00", "10.00", "10.00", "10.00", "10.00", "1.00", "1.000", "9.000"], Words(lines[3]));
        Assert.Equal(4, lines.Length);
    }

    [Fact]
    public void The_document_has_every_figure_of_their_lifetime()
    {
        _stats.ForSession(8).RecordRoundTrip(30_000, 2_000);
        _stats.ForSession(8).RecordRoundTrip(20_000);
        _clock.Advance(TimeSpan.FromSeconds(4));
        _stats.CutInterval();

        string[] lines = Lines(LatencyTable.Document(_stats.Read(), final: true));

        Assert.Equal(
            [
                "session", "messages", "errors", "seconds", "min", "avg", "P50", "P95", "P99", "max", "P99/avg",
                "server", "min", "avg", "max", "network", "min", "avg", "max",
            ],
            Words(lines[1]));
        Assert.Equal(
            [
                "8", "2", "0", "4.00", "20.00", "25.00", "20.00", "30.00", "30.00", "30.00", "1.20",
                "2.000", "2.000", "2.000", "28.00", "28.00", "28.00",
            ],
            Words(lines[2]));
    }

    [Fact]
    public void What_a_session_did_not_measure_is_a_dash()
    {
        _stats.ForSession(8).RecordRoundTrip(20_000);

        Assert.Equal(["-", "-"], Words(Lines(LatencyTable.Lifetime(_stats.Read()))[2])[^2..]);
    }

    [Theory]
    [InlineData(LatencyTable.MaxSessions, null)]
    [InlineData(1005, "and 985 more sessions: the .json file has all of them")]
    public void A_console_shows_twenty_and_says_where_the_others_are(int sessions, string? rest)
    {
        Record(sessions);

        string[] lines = Lines(LatencyTable.Lifetime(_stats.Read()));

        Assert.Equal(2 + LatencyTable.MaxSessions + (rest is null ? 0 : 1), lines.Length);
        Assert.Equal(sessions.ToString(System.Globalization.CultureInfo.InvariantCulture), Words(lines[2])[0]);
        if (rest is not null)
        {
            Assert.Equal(rest, lines[^1]);
        }
    }

    [Fact]
    public void The_document_shows_a_thousand_and_the_csv_has_all()
    {
        Record(1005);
        LatencyReport report = _stats.Read();

        string[] lines = Lines(LatencyTable.Document(report, final: true));

        Assert.Equal(2 + LatencyTable.MaxSessionsInDocument + 1, lines.Length);
        Assert.Equal("and 5 more sessions: the .json file has all of them", lines[^1]);
        Assert.Equal(1006 * 3, LatencyCsv.IntervalRows(report).Count(character => character == '\n'));
    }

    [Fact]
    public void Ended_sessions_that_are_not_kept_are_told_of()
    {
        Record(EndedSessions.Max + 7);
        for (ulong session = 1; session <= EndedSessions.Max + 7; session++)
        {
            _stats.EndSession(session);
        }

        LatencyReport report = _stats.Read();

        string[] lines = Lines(LatencyTable.Lifetime(report));
        Assert.Equal("and 980 more sessions: the .json file has these", lines[^2]);
        Assert.Equal("and 7 that ended in the interval: of those the last 1,000 are kept", lines[^1]);
        using var json = System.Text.Json.JsonDocument.Parse(LatencyJson.ToUtf8(report, final: false));
        Assert.Equal(7, json.RootElement.GetProperty("sessions_left_out").GetInt64());
    }

    [Fact]
    public void An_interval_leaves_out_who_did_nothing_in_it()
    {
        _stats.ForSession(7).RecordRoundTrip(10_000, 1_000);
        _stats.CutInterval();

        Assert.DoesNotContain("sessions:", LatencyTable.Interval(_stats.Read()), StringComparison.Ordinal);

        _stats.ForSession(8).RecordRoundTrip(30_000, 2_000);

        Assert.Equal("8", Words(Assert.Single(Lines(LatencyTable.Interval(_stats.Read()))[2..]))[0]);
    }

    private static string[] Lines(string table)
    {
        string[] lines = table.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        return lines[Array.FindIndex(lines, static line => line.StartsWith("sessions:", StringComparison.Ordinal))..];
    }

    private static string[] Words(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries);

    private void Record(int sessions)
    {
        for (int session = 1; session <= sessions; session++)
        {
            _stats.ForSession((ulong)session).RecordRoundTrip(1_000 + (session * 100), 100);
        }
    }
}
