using System.Text;

namespace FastPort.Client.Reports;

/// <summary>Formats a comparison as an aligned text table or as Markdown.</summary>
internal static class ComparisonTable
{
    private static readonly string[] Headings = ["", "before", "after", "change"];

    public static string Text(Comparison comparison) => Write(comparison, string.Empty, "  ", string.Empty, separator: false);

    public static string Markdown(Comparison comparison) => Write(comparison, "| ", " | ", " |", separator: true);

    private static string Write(Comparison comparison, string left, string between, string right, bool separator)
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

        var text = new StringBuilder();
        for (int line = 0; line < lines.Count; line++)
        {
            AppendLine(lines[line].Select((cell, i) => i == 0 ? cell.PadRight(widths[i]) : cell.PadLeft(widths[i])));
            if (separator && line == 0)
            {
                AppendLine(widths.Select(static (width, i) => i == 0 ? new string('-', width) : new string('-', width - 1) + ":"));
            }
        }

        if (comparison.Differences.Count != 0)
        {
            text.Append('\n');
            foreach (string difference in comparison.Differences)
            {
                text.Append(separator ? "- " : string.Empty).Append(difference).Append('\n');
            }
        }

        return text.ToString();

        void AppendLine(IEnumerable<string> cells) => text.Append(left).AppendJoin(between, cells).Append(right).Append('\n');
    }
}
