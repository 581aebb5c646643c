using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>
/// Tables with a row per session: the first latency (round trip, or decode to send), then its two parts. The sessions with the highest P99
/// come first.
/// </summary>
internal static class LatencySessionTable
{
    /// <summary>Appends the slowest sessions, with columns that fit a terminal; nothing if no session is measured.</summary>
    internal static void AppendShort(StringBuilder text, LatencyReport report, bool interval) =>
        Append(text, report, interval, LatencyTable.MaxSessions, full: false);

    /// <summary>Appends the sessions' lifetime with all figures; nothing if no session is measured.</summary>
    internal static void AppendFull(StringBuilder text, LatencyReport report)
    {
        if (report.Sessions.Count > 0)
        {
            text.Append('\n');
        }

        Append(text, report, interval: false, LatencyTable.MaxSessionsInDocument, full: true);
    }

    private static void Append(StringBuilder text, LatencyReport report, bool interval, int limit, bool full)
    {
        var rows = report.Sessions
            .Select(session => Row.Of(session, interval))
            .Where(static row => row.Count > 0 || row.Errors > 0)
            .OrderByDescending(static row => row.Latencies[0].P99).ThenBy(static row => row.Session.Key)
            .ToList();
        if (rows.Count == 0)
        {
            return;
        }

        var metrics = LatencyMetric.Of(report.Role);
        text.Append(
            CultureInfo.InvariantCulture,
            $"sessions: {metrics[0].Title} in us, then {metrics[1].Title} and {metrics[2].Title}; highest P99 first\n");
        var grid = new TextGrid(full ? FullHeadings(metrics) : ShortHeadings(metrics));
        foreach (var row in rows.Take(limit))
        {
            grid.AddRow(full ? FullCells(row) : ShortCells(row));
        }

        grid.AppendTo(text);
        if (rows.Count > limit)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"and {LatencyText.Count(rows.Count - limit, "more session")}: the .json file has "
                + $"{(report.SessionsLeftOut == 0 ? "all of them" : "these")}\n");
        }

        if (report.SessionsLeftOut > 0)
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"and {LatencyText.Count(report.SessionsLeftOut)} that ended in the interval: of those the last "
                + $"{LatencyText.Count(EndedSessions.Max)} are kept\n");
        }
    }

    private static string[] ShortHeadings(IReadOnlyList<LatencyMetric> metrics) =>
        ["session", "messages", "errors", "avg", "P50", "P95", "P99", "max", "P99/avg", metrics[1].Title + " avg", metrics[2].Title
            + " avg"];

    private static string[] ShortCells(in Row row)
    {
        LatencySummary whole = row.Latencies[0], first = row.Latencies[1], second = row.Latencies[2];
        return
        [
            row.Session.Name,
            LatencyText.Count(row.Count),
            LatencyText.Count(row.Errors),
            .. Cells(whole, whole.Mean, whole.P50, whole.P95, whole.P99, whole.Max),
            LatencyText.Ratio(whole.P99OverMean),
            .. Cells(first, first.Mean),
            .. Cells(second, second.Mean),
        ];
    }

    private static string[] FullHeadings(IReadOnlyList<LatencyMetric> metrics) =>
    [
        "session", "messages", "errors", "seconds", "min", "avg", "P50", "P95", "P99", "max", "P99/avg",
        metrics[1].Title + " min", "avg", "max",
        metrics[2].Title + " min", "avg", "max",
    ];

    private static string[] FullCells(in Row row)
    {
        LatencySummary whole = row.Latencies[0], first = row.Latencies[1], second = row.Latencies[2];
        return
        [
            row.Session.Name,
            LatencyText.Count(row.Count),
            LatencyText.Count(row.Errors),
            LatencyText.Seconds(row.Length),
            .. Cells(whole, whole.Min, whole.Mean, whole.P50, whole.P95, whole.P99, whole.Max),
            LatencyText.Ratio(whole.P99OverMean),
            .. Cells(first, first.Min, first.Mean, first.Max),
            .. Cells(second, second.Min, second.Mean, second.Max),
        ];
    }

    private static IEnumerable<string> Cells(LatencySummary summary, params double[] values) =>
        values.Select(value => summary.Count == 0 ? "-" : LatencyText.Microseconds(value));

    /// <summary>One session in the period shown.</summary>
    private readonly record struct Row(LatencyScopeReport Session, TimeSpan Length, long Count, long Errors, LatencySummary[] Latencies)
    {
        internal static Row Of(LatencyScopeReport session, bool interval) => interval
            ? new Row(
                session, session.Interval, session.IntervalCount, session.IntervalErrors,
                [.. session.Metrics.Select(static m => m.Interval.Summarize())])
            : new Row(
                session, session.Lifetime, session.LifetimeCount, session.LifetimeErrors,
                [.. session.Metrics.Select(static m => m.Lifetime.Summarize())]);
    }
}
