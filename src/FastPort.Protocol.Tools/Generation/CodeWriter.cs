using System.Text;

namespace FastPort.Protocol.Tools.Generation;

/// <summary>Lines of C# with their indentation.</summary>
internal sealed class CodeWriter
{
    private readonly StringBuilder _text = new();
    private int _depth;

    public void Line(string line = "")
    {
        if (line.Length != 0)
        {
            _text.Append(' ', 4 * _depth).Append(line);
        }

        _text.Append('\n');
    }

    public void Lines(IEnumerable<string> lines)
    {
        foreach (string line in lines)
        {
            Line(line);
        }
    }

    /// <summary>Begins a block of braces.</summary>
    public void Open()
    {
        Line("{");
        _depth++;
    }

    public void Close()
    {
        _depth--;
        Line("}");
    }

    /// <summary>Lines that continue the one before.</summary>
    public void Continue(params string[] lines)
    {
        _depth++;
        Lines(lines);
        _depth--;
    }

    public override string ToString() => _text.ToString();
}
