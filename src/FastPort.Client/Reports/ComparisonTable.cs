using System.Text;

namespace FastPort.Client.Reports;

/// <summary>Formats a comparison as an aligned text table or as Markdown.</summary>
internal static class ComparisonTable
{
    private static readonly string[] Headings = ["", "before", "after", "change"];

    /// <param name="comparison">The comparison.</param>
    /// <param name="colored">Whether non-zero values that should be zero are red. Defaults to false.</param>
    public static string Text(Comparison comparison, bool colored = false) =>
        Write(comparison, string.Empty, "  ", string.Empty, separator: false, colored);

    public static string Markdown(Comparison comparison) => Write(comparison, "| ", " | ", " |", separator: true, colored: false);

    private static string Write(Comparison comparison, string left, string between, string right, bool separator, bool colored)
    {
        List<string[]> lines = [Headings, .. comparison.Rows.Select(static row => row.Cells)];
        int[] widths = new int[Headings.Length];
        foreach (string[] cells in lines)
        {
            for (int i = 0; i < cells.Length; i++)
            {
                widths[i] = Math.Max(widths[i], cells[i].Length);
            }
        }

        // Above the figures: readers must first know that they are not of the same test.
        var text = new StringBuilder();
        if (comparison.Differences.Count != 0)
        {
            text.Append(TerminalText.Red("The two runs are not the same test:", colored)).Append('\n');
            text.Append(separator ? "\n" : string.Empty);
            foreach (string difference in comparison.Differences)
            {
                text.Append("- ").Append(difference).Append('\n');
            }

            text.Append('\n');
        }

        for (int line = 0; line < lines.Count; line++)
        {
            AppendLine(
                lines[line].Select((cell, i) => i == 0 ? cell.PadRight(widths[i]) : cell.PadLeft(widths[i])),
                colored && line > 0 && comparison.Rows[line - 1].Alarms);
            if (separator && line == 0)
            {
                AppendLine(widths.Select(static (width, i) => i == 0 ? new string('-', width) : new string('-', width - 1) + ":"), false);
            }
        }

        return text.ToString();

        void AppendLine(IEnumerable<string> cells, bool red) =>
            text.Append(left).Append(TerminalText.Red(string.Join(between, cells), red)).Append(right).Append('\n');
    }
}
