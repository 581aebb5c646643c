using System.Globalization;
using FastPort.Client.Reports;
using FastPort.Protocol;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace FastPort.Client.Top;

/// <summary>The figures of a server as they are shown.</summary>
internal static class TopView
{
    // More than a TimeSpan holds may be somebody's answer.
    private const ulong LongestUptimeSeconds = long.MaxValue / TimeSpan.TicksPerSecond;

    /// <summary>Shows what happened between two looks.</summary>
    public static IRenderable Of(string endpoint, TopFigures figures)
    {
        ServerStatus now = figures.Now;
        return new Rows(
            Line($"{SafeText.Of(now.ServerName)} at {endpoint}, up {Uptime(now.UptimeMs)}"),
            Line(
                $"{now.SessionsOpen:#,##0} sessions, {now.ConnectionsOpen:#,##0} connections ({now.ConnectionsAccepted:#,##0} accepted, "
                + $"{now.ConnectionsRejected:#,##0} rejected, {now.ConnectionsTimedOut:#,##0} timed out), "
                + $"{now.TopicSubscriptions:#,##0} subscriptions"),
            Line(
                $"in {figures.MessagesInPerSecond:#,##0} messages/s, {figures.BytesInPerSecond / 1e6:#,##0.00} MB/s; "
                + $"out {figures.MessagesOutPerSecond:#,##0} messages/s, {figures.BytesOutPerSecond / 1e6:#,##0.00} MB/s"),
            Line(
                $"{now.ErrorsSent:#,##0} errors sent, {now.FramesDropped:#,##0} frames dropped, {now.AcceptErrors:#,##0} accepts failed, "
                + "since the start"),
            Types(figures.Types));
    }

    /// <summary>Shows that the server does not answer.</summary>
    public static IRenderable Of(string endpoint, string problem) =>
        new Rows(Line($"{endpoint} does not answer: {SafeText.Message(problem)}"), Line("trying again"));

    private static Table Types(IReadOnlyList<TopType> types)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        table.AddColumn(new TableColumn("decode to send").NoWrap());
        foreach (string heading in (string[])["per s", "P50", "P99", "P99.9", "max", "errors"])
        {
            table.AddColumn(new TableColumn(heading).NoWrap().RightAligned());
        }

        foreach (TopType type in types)
        {
            table.AddRow(
                new Text(SafeText.Of(type.Name)), Cell($"{type.PerSecond:#,##0}"), Cell(Time(type.P50)), Cell(Time(type.P99)),
                Cell(Time(type.P999)), Cell(Time(type.Max)), Cell($"{type.Errors:#,##0}"));
        }

        return table;
    }

    private static Text Line(FormattableString text) => new(FormattableString.Invariant(text));

    private static Text Line(string text) => new(text);

    private static Text Cell(FormattableString text) => new(FormattableString.Invariant(text));

    private static Text Cell(string text) => new(text);

    private static string Time(ulong? nanoseconds) => nanoseconds is not { } value
        ? "-"
        : value switch
        {
            < 1_000_000 => string.Create(CultureInfo.InvariantCulture, $"{value / 1e3:0.0} us"),
            < 1_000_000_000 => string.Create(CultureInfo.InvariantCulture, $"{value / 1e6:0.0} ms"),
            _ => string.Create(CultureInfo.InvariantCulture, $"{value / 1e9:0.0} s"),
        };

    private static string Uptime(ulong milliseconds) =>
        TimeSpan.FromSeconds((long)Math.Min(milliseconds / 1000, LongestUptimeSeconds)).ToString("c", CultureInfo.InvariantCulture);
}
