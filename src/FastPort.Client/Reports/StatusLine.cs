using System.Globalization;
using System.Text;

namespace FastPort.Client.Reports;

/// <summary>
/// Standard output with a status line at the bottom of the terminal, which is overwritten repeatedly. All other output (log lines, tables)
/// also goes through this writer and is printed above the status line. Thread-safe: <see cref="_gate"/> guards the output.
/// </summary>
/// <param name="output">The terminal; not disposed.</param>
/// <param name="columns">The terminal's current width, in characters; 0 or less if unknown.</param>
internal sealed class StatusLine(TextWriter output, Func<int> columns) : TextWriter(CultureInfo.InvariantCulture)
{
    private const int UsualColumns = 80;

    // The terminal echoes ^C after the text, and a full line would wrap.
    private const int Margin = 3;

    private readonly Lock _gate = new();
    private IReadOnlyList<string> _texts = [];
    private int _shown;
    private bool _unended;
    private bool _closed;

    public override Encoding Encoding => output.Encoding;

    private int Columns => columns() is var width and > 0 ? width : UsualColumns;

    /// <summary>Shows a text in place of the previous one.</summary>
    /// <param name="texts">The text in several lengths, the longest first; the first one that fits is shown.</param>
    public void Show(IReadOnlyList<string> texts)
    {
        lock (_gate)
        {
            _texts = texts;
            Draw();
        }
    }

    /// <summary>Removes the text.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            _texts = [];
            Erase();
            output.Flush();
        }
    }

    /// <summary>Removes the text for good before the process ends; does nothing if another thread is writing.</summary>
    public void Abandon()
    {
        if (_gate.TryEnter())
        {
            try
            {
                _closed = true;
                Erase();
                output.Flush();
            }
            finally
            {
                _gate.Exit();
            }
        }
    }

    public override void Write(char value) => Print([value]);

    public override void Write(char[] buffer, int index, int count) => Print(buffer.AsSpan(index, count));

    public override void Write(ReadOnlySpan<char> buffer) => Print(buffer);

    public override void Write(string? value) => Print(value);

    public override void Flush()
    {
        lock (_gate)
        {
            output.Flush();
        }
    }

    private void Print(ReadOnlySpan<char> text)
    {
        if (text.IsEmpty)
        {
            return;
        }

        lock (_gate)
        {
            Erase();
            output.Write(text);

            // Loggers write a line in pieces: the text must not be drawn between them.
            _unended = text[^1] != '\n';
            Draw();
        }
    }

    // Called under the gate, like Erase.
    private void Draw()
    {
        if (_unended || _closed || _texts.Count == 0)
        {
            return;
        }

        int room = Math.Max(1, Columns - Margin);
        string text = _texts.FirstOrDefault(t => t.Length <= room) ?? _texts[^1][..room];
        Erase();
        output.Write(text);
        output.Flush();
        _shown = text.Length;
    }

    private void Erase()
    {
        if (_shown == 0)
        {
            return;
        }

        // A terminal that has become narrower has wrapped the text to several lines.
        int above = (_shown - 1) / Columns;
        output.Write(above == 0 ? "\r\u001b[K" : string.Create(CultureInfo.InvariantCulture, $"\r\u001b[{above}A\u001b[J"));
        _shown = 0;
    }
}
