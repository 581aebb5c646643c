using System.Text;

namespace FastPort.Client.Reports;

/// <summary>
/// Standard output with a line at the bottom that is written over again and again. Everything else that is printed meanwhile (log lines, tables) goes
/// through here too and clears the line first. Thread-safe: <see cref="_gate"/> guards the output.
/// </summary>
internal sealed class StatusLine(TextWriter output) : TextWriter
{
    private const string ToLineStart = "\r\u001b[K";

    private readonly Lock _gate = new();
    private bool _shown;

    public override Encoding Encoding => output.Encoding;

    /// <summary>Shows a text in place of the last one.</summary>
    public void Show(string text)
    {
        lock (_gate)
        {
            output.Write(ToLineStart);
            output.Write(text);
            output.Flush();
            _shown = true;
        }
    }

    /// <summary>Takes the text away.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            Hide();
            output.Flush();
        }
    }

    public override void Write(char value)
    {
        lock (_gate)
        {
            Hide();
            output.Write(value);
        }
    }

    public override void Write(char[] buffer, int index, int count)
    {
        lock (_gate)
        {
            Hide();
            output.Write(buffer, index, count);
        }
    }

    public override void Write(string? value)
    {
        lock (_gate)
        {
            Hide();
            output.Write(value);
        }
    }

    public override void Flush()
    {
        lock (_gate)
        {
            output.Flush();
        }
    }

    private void Hide()
    {
        if (_shown)
        {
            _shown = false;
            output.Write(ToLineStart);
        }
    }
}
