using System.Globalization;

namespace FastPort.Client.Reports;

/// <summary>One line of a comparison: a figure before and after. A value is null if its run has no such figure.</summary>
/// <param name="Name">The figure, with its unit.</param>
/// <param name="Before">The value before.</param>
/// <param name="After">The value after.</param>
/// <param name="Format">Number format of the values.</param>
/// <param name="IsAlarm">Whether the figure should be 0.</param>
internal sealed record ComparisonRow(string Name, double? Before, double? After, string Format, bool IsAlarm = false)
{
    /// <summary>Whether a figure is not 0 that should be.</summary>
    public bool Alarms => IsAlarm && (Before is not (null or 0) || After is not (null or 0));

    /// <summary>The change in %; null if a value is missing or the value before is 0.</summary>
    public double? ChangePercent => Before is { } before && After is { } after && before != 0 ? (after - before) / before * 100 : null;

    /// <summary>The texts of the row.</summary>
    public string[] Cells => [Name, Text(Before), Text(After), ChangeText];

    private string ChangeText
    {
        get
        {
            if (ChangePercent is not { } change)
            {
                return Before == 0 && After == 0 ? "0.0 %" : "-";
            }

            string text = change.ToString("+#,##0.0;-#,##0.0;0.0", CultureInfo.InvariantCulture);
            return $"{(text is "+0.0" or "-0.0" ? "0.0" : text)} %";
        }
    }

    private string Text(double? value) => value?.ToString(Format, CultureInfo.InvariantCulture) ?? "-";
}

/// <summary>Two results side by side.</summary>
internal sealed class Comparison
{
    private const string Whole = "#,##0";
    private const string Fraction = "#,##0.00";

    /// <param name="before">The result before.</param>
    /// <param name="after">The result after.</param>
    /// <param name="differences">The differences in settings and environment, one sentence each.</param>
    public Comparison(LoadResult before, LoadResult after, IReadOnlyList<string> differences)
    {
        List<ComparisonRow> rows =
        [
            new("messages/s", before.MessagesPerSecond, after.MessagesPerSecond, Whole),
        ];
        if (before.Rate is not null || after.Rate is not null)
        {
            rows.Add(new("messages/s asked for", before.Rate, after.Rate, "#,##0.###"));
        }

        rows.AddRange(
        [
            new("payload MB/s", before.BytesPerSecond / 1e6, after.BytesPerSecond / 1e6, Fraction),
            new("messages", before.Messages, after.Messages, Whole),
            new("duration s", before.DurationSeconds, after.DurationSeconds, Fraction),
            new("errors", before.Errors, after.Errors, Whole, IsAlarm: true),
        ]);
        if (before.MissedSends is not null || after.MissedSends is not null)
        {
            rows.Add(new("missed sends", before.MissedSends, after.MissedSends, Whole, IsAlarm: true));
        }

        rows.Add(new("reconnects", before.Reconnects, after.Reconnects, Whole, IsAlarm: true));
        if (before.Interruptions is not null || after.Interruptions is not null)
        {
            rows.Add(new("interruptions", before.Interruptions, after.Interruptions, Whole, IsAlarm: true));
        }

        AddLatency(rows, "round trip", before.RoundTrip, after.RoundTrip);
        AddLatency(rows, "server", before.ServerTime, after.ServerTime);
        AddLatency(rows, "network", before.Network, after.Network);
        Rows = rows;
        Differences = [.. differences.Select(SafeText.Message)];
    }

    /// <summary>The figures.</summary>
    public IReadOnlyList<ComparisonRow> Rows { get; }

    /// <summary>The differences between the two runs, a sentence each. They limit what the comparison shows.</summary>
    public IReadOnlyList<string> Differences { get; }

    private static void AddLatency(List<ComparisonRow> rows, string name, LatencyFigures? before, LatencyFigures? after)
    {
        if (before is null && after is null)
        {
            return;
        }

        Add("min", static f => f.Min);
        Add("avg", static f => f.Avg);
        Add("P50", static f => f.P50);
        Add("P90", static f => f.P90);
        Add("P95", static f => f.P95);
        Add("P99", static f => f.P99);
        Add("P99.9", static f => f.P999);
        Add("max", static f => f.Max);
        rows.Add(new ComparisonRow($"{name} P99/avg", before?.P99OverAvg, after?.P99OverAvg, Fraction));

        void Add(string figure, Func<LatencyFigures, double> value) => rows.Add(new ComparisonRow(
            $"{name} {figure} us", before is null ? null : value(before), after is null ? null : value(after), Fraction));
    }
}
