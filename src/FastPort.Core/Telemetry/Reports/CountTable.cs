using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>A table of the application's counts: a row for each owner, a column for each name.</summary>
internal static class CountTable
{
    /// <summary>Appends the counts of a period; nothing if there are none.</summary>
    internal static void Append(StringBuilder text, LatencyReport report, bool interval)
    {
        string[] names = [.. report.Counts.Select(static count => count.Name).Distinct()];
        if (names.Length == 0)
        {
            return;
        }

        var grid = new TextGrid(["counts", .. names.Select(static name => name.Replace('_', ' '))]);
        foreach (IGrouping<string, CountReport> row in report.Counts.GroupBy(static count => count.Owner))
        {
            grid.AddRow([row.Key, .. names.Select(name => Cell(row.FirstOrDefault(count => count.Name == name), interval))]);
        }

        grid.AppendTo(text);
    }

    private static string Cell(CountReport? count, bool interval) => (interval ? count?.Interval : count?.Lifetime) switch
    {
        null => "-",
        { Per: null } plain => LatencyText.Count(plain.Count),
        { Ratio: var ratio } => ratio?.ToString("0.000", CultureInfo.InvariantCulture) ?? "-",
    };
}
