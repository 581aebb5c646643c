using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>Formats a report as aligned text tables, with times in microseconds.</summary>
public static class LatencyTable
{
    /// <summary>Up to this many samples P99.9 depends on at most ten values and is shown as "-".</summary>
    internal const long MinSamplesForP999 = 10_000;

    /// <summary>Maximum number of sessions in <see cref="Lifetime"/> and <see cref="Interval"/>: those with the highest P99.</summary>
    internal const int MaxSessions = 20;

    /// <summary>
    /// Maximum number of sessions in <see cref="Document"/>: those with the highest P99. The other formats have all sessions.
    /// </summary>
    internal const int MaxSessionsInDocument = 1000;

    private static readonly string[] Headings = ["samples", "min", "avg", "P50", "P90", "P95", "P99", "P99.9", "max", "P99/avg"];

    /// <summary>The figures since measuring began.</summary>
    /// <param name="report">The report.</param>
    public static string Lifetime(LatencyReport report)
    {
        ArgumentNullException.ThrowIfNull(report);
        var text = new StringBuilder();
        AppendTable(text, report, interval: false);
        LatencySessionTable.AppendShort(text, report, interval: false);
        return text.ToString();
    }

    /// <summary>The figures of the interval.</summary>
    /// <param name="report">The report.</param>
    public static string Interval(LatencyReport report)
    {
        ArgumentNullException.ThrowIfNull(report);
        var text = new StringBuilder();
        AppendTable(text, report, interval: true);
        LatencySessionTable.AppendShort(text, report, interval: true);
        return text.ToString();
    }

    /// <summary>Lifetime, interval and recent samples: the contents of the .log file.</summary>
    /// <param name="report">The report.</param>
    /// <param name="final">Whether it is the last report of the process.</param>
    public static string Document(LatencyReport report, bool final)
    {
        ArgumentNullException.ThrowIfNull(report);
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture, $"FastPort latency statistics, {LatencyText.RoleName(report.Role)}, process {report.ProcessId}\n")
            .Append(CultureInfo.InvariantCulture, $"started {LatencyText.UtcTime(report.Started)}, ")
            .Append(CultureInfo.InvariantCulture, $"measuring since {LatencyText.UtcTime(report.MeasuringSince)}, ")
            .Append(CultureInfo.InvariantCulture, $"written {LatencyText.UtcTime(report.Taken)}{(final ? ", final" : "")}\n\n");
        AppendTable(text, report, interval: false);
        text.Append('\n');
        AppendTable(text, report, interval: true);
        AppendRecent(text, report);
        LatencySessionTable.AppendFull(text, report);
        return text.ToString();
    }

    private static void AppendTable(StringBuilder text, LatencyReport report, bool interval)
    {
        var length = interval ? report.All.Interval : report.All.Lifetime;
        text.Append(
            CultureInfo.InvariantCulture,
            $"{LatencyText.RoleName(report.Role)} latency in us, {(interval ? "interval" : "lifetime")} of {LatencyText.Seconds(length)} "
            + $"s\n");
        var grid = new TextGrid(["", .. Headings]);
        AddScope(grid, report.All, interval);
        foreach (var scope in report.Types.Concat(report.Operations))
        {
            AddScope(grid, scope, interval);
        }

        grid.AppendTo(text);
        CountTable.Append(text, report, interval);
    }

    private static void AddScope(TextGrid grid, LatencyScopeReport scope, bool interval)
    {
        var count = interval ? scope.IntervalCount : scope.LifetimeCount;
        var rate = interval ? scope.IntervalRate : scope.LifetimeRate;
        var errors = interval ? scope.IntervalErrors : scope.LifetimeErrors;
        var title = scope.Scope == LatencyScope.All ? "all" : $"{LatencyText.ScopeName(scope.Scope)} {scope.Name}";
        grid.AddHeading(
            $"{title}: {LatencyText.Count(count, LatencyText.Counted(scope.Scope))}, {LatencyText.Rate(rate)}/s, "
            + $"{LatencyText.Count(errors, "error")}");
        foreach (var metric in scope.Metrics)
        {
            grid.AddRow(Cells(metric.Metric, (interval ? metric.Interval : metric.Lifetime).Summarize()));
        }
    }

    private static void AppendRecent(StringBuilder text, LatencyReport report)
    {
        if (report.Recent is not { } recent)
        {
            return;
        }

        text.Append(
            CultureInfo.InvariantCulture,
            $"\n{LatencyText.RoleName(report.Role)} latency in us, exact, of the last {LatencyText.Count(recent.Count, "sample")}, ")
            .Append(CultureInfo.InvariantCulture, $"{LatencyText.Seconds(recent.Window)} s\n");
        var grid = new TextGrid(["", .. Headings]);
        var metrics = LatencyMetric.Of(report.Role);
        for (var i = 0; i < metrics.Count; i++)
        {
            grid.AddRow(Cells(metrics[i], recent.Metrics[i]));
        }

        grid.AppendTo(text);
    }

    private static string[] Cells(LatencyMetric metric, in LatencySummary summary)
    {
        if (summary.Count == 0)
        {
            return ["  " + metric.Title, "0", .. Enumerable.Repeat("-", Headings.Length - 1)];
        }

        return
        [
            "  " + metric.Title,
            LatencyText.Count(summary.Count),
            LatencyText.Microseconds(summary.Min),
            LatencyText.Microseconds(summary.Mean),
            LatencyText.Microseconds(summary.P50),
            LatencyText.Microseconds(summary.P90),
            LatencyText.Microseconds(summary.P95),
            LatencyText.Microseconds(summary.P99),
            summary.Count > MinSamplesForP999 ? LatencyText.Microseconds(summary.P999) : "-",
            LatencyText.Microseconds(summary.Max),
            LatencyText.Ratio(summary.P99OverMean),
        ];
    }
}
