using System.Globalization;
using System.Text;

namespace FastPort.Client.Tests.Support;

/// <summary>
/// A terminal as far as this program needs one: wraps at its width, knows carriage return, "clear to the end of the line" and "of the
/// screen" and "cursor up", and breaks long lines anew when it is resized, as today's terminals do. What is written to it is kept as it
/// came, too.
/// </summary>
internal sealed class Screen(int columns) : StringWriter(CultureInfo.InvariantCulture)
{
    private readonly List<Row> _rows = [new Row()];
    private int _row;
    private int _column;

    public int Columns { get; private set; } = columns;

    /// <summary>The lines as one sees them, without what is empty at the end.</summary>
    public string[] Lines
    {
        get
        {
            string[] lines = [.. _rows.Select(static row => row.Text.ToString().TrimEnd())];
            return lines[..(Array.FindLastIndex(lines, static line => line.Length != 0) + 1)];
        }
    }

    /// <summary>Every text that stood in the line of the cursor when it was written over or the line ended.</summary>
    public List<string> Seen { get; } = [];

    public static Screen Of(string output, int columns)
    {
        var screen = new Screen(columns);
        screen.Write(output);
        return screen;
    }

    public override void Write(char value) => Write([value]);

    public override void Write(string? value) => Write(value.AsSpan());

    public override void Write(ReadOnlySpan<char> text)
    {
        base.Write(text);
        for (int i = 0; i < text.Length; i++)
        {
            switch (text[i])
            {
                case '\r':
                    Seen.Add(_rows[_row].Text.ToString());
                    _column = 0;
                    break;
                case '\n':
                    Seen.Add(_rows[_row].Text.ToString());
                    NextRow(wrapped: false);
                    break;
                case '\u001b':
                    i = Escape(text, i);
                    break;
                case >= ' ':
                    Put(text[i]);
                    break;
            }
        }
    }

    public void Resize(int columns)
    {
        var lines = new List<StringBuilder>();
        int cursorLine = 0, cursorOffset = 0;
        for (int i = 0; i < _rows.Count; i++)
        {
            if (!_rows[i].Wrapped)
            {
                lines.Add(new StringBuilder());
            }

            if (i == _row)
            {
                (cursorLine, cursorOffset) = (lines.Count - 1, lines[^1].Length + _column);
            }

            lines[^1].Append(_rows[i].Text);
        }

        Columns = columns;
        _rows.Clear();
        for (int line = 0; line < lines.Count; line++)
        {
            int first = _rows.Count;
            for (int at = 0; at == 0 || at < lines[line].Length; at += columns)
            {
                _rows.Add(new Row { Wrapped = at != 0 });
                _rows[^1].Text.Append(lines[line].ToString(at, Math.Min(columns, lines[line].Length - at)));
            }

            if (line == cursorLine)
            {
                _row = first + Math.Max(0, cursorOffset - 1) / columns;
                _column = cursorOffset - ((_row - first) * columns);
            }
        }
    }

    private int Escape(ReadOnlySpan<char> text, int at)
    {
        int end = at + 1;
        if (end < text.Length && text[end] == '[')
        {
            do
            {
                end++;
            }
            while (end < text.Length && !char.IsAsciiLetter(text[end]));
            string argument = text[(at + 2)..end].ToString();
            switch (text[end])
            {
                case 'K':
                    Cut(_row);
                    break;
                case 'J':
                    Cut(_row);
                    _rows.RemoveRange(_row + 1, _rows.Count - _row - 1);
                    break;
                case 'A':
                    _row = Math.Max(0, _row - int.Parse(argument, CultureInfo.InvariantCulture));
                    break;
            }
        }

        return end;
    }

    private void Cut(int row) => _rows[row].Text.Length = Math.Min(_rows[row].Text.Length, _column);

    private void Put(char value)
    {
        if (_column == Columns)
        {
            NextRow(wrapped: true);
        }

        StringBuilder row = _rows[_row].Text;
        row.Append(' ', Math.Max(0, _column - row.Length));
        if (_column < row.Length)
        {
            row[_column] = value;
        }
        else
        {
            row.Append(value);
        }

        _column++;
    }

    private void NextRow(bool wrapped)
    {
        _column = 0;
        if (++_row == _rows.Count)
        {
            _rows.Add(new Row());
        }

        _rows[_row].Wrapped = wrapped;
    }

    private sealed class Row
    {
        public StringBuilder Text { get; } = new();

        public bool Wrapped { get; set; }
    }
}
