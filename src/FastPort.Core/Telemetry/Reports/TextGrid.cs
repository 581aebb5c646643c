using System.Text;

namespace FastPort.Telemetry;

/// <summary>Rows of cells in aligned columns: the first column to the left, all others to the right. Heading rows span the grid.</summary>
internal sealed class TextGrid
{
    private const string Gap = "  ";

    private readonly List<string[]> _rows = [];
    private readonly int[] _widths;

    internal TextGrid(string[] headings)
    {
        _widths = new int[headings.Length];
        AddRow(headings);
    }

    internal void AddHeading(string text) => _rows.Add([text]);

    internal void AddRow(string[] cells)
    {
        for (var i = 0; i < cells.Length; i++)
        {
            _widths[i] = Math.Max(_widths[i], cells[i].Length);
        }

        _rows.Add(cells);
    }

    internal void AppendTo(StringBuilder text)
    {
        foreach (var row in _rows)
        {
            if (row.Length == 1)
            {
                text.Append(row[0]).Append('\n');
                continue;
            }

            text.Append(row[0].PadRight(_widths[0]));
            for (var i = 1; i < row.Length; i++)
            {
                text.Append(Gap).Append(row[i].PadLeft(_widths[i]));
            }

            text.Append('\n');
        }
    }
}
