namespace FastPort.Protocol.Tools.Generation;

/// <summary>Comments of a <c>.proto</c> file as documentation of C#.</summary>
internal static class Documentation
{
    // All that end a line in C#: what is behind one of them would be code.
    private static readonly string[] LineEnds = ["\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"];

    /// <summary>The summary that a comment makes; paragraphs are separated by empty lines.</summary>
    /// <param name="comment">The comment as protoc reports it: without slashes, with the space behind them.</param>
    /// <param name="otherwise">The summary if the comment is empty.</param>
    public static IEnumerable<string> Summary(string comment, string otherwise)
    {
        List<List<string>> paragraphs = Paragraphs(comment.Trim().Length != 0 ? comment : otherwise);
        if (paragraphs.Count == 1 && paragraphs[0].Count == 1)
        {
            return [$"/// <summary>{paragraphs[0][0]}</summary>"];
        }

        IEnumerable<string> lines = paragraphs.Count == 1
            ? paragraphs[0]
            : paragraphs.SelectMany(paragraph => (string[])["<para>", .. paragraph, "</para>"]);
        return ["/// <summary>", .. lines.Select(line => $"/// {line}"), "/// </summary>"];
    }

    private static List<List<string>> Paragraphs(string comment)
    {
        var paragraphs = new List<List<string>>();
        bool isNew = true;
        foreach (string line in comment.Split(LineEnds, StringSplitOptions.None).Select(Printable))
        {
            if (line.Length == 0)
            {
                isNew = true;
                continue;
            }

            if (isNew)
            {
                paragraphs.Add([]);
                isNew = false;
            }

            paragraphs[paragraphs.Count - 1].Add(line.Replace("&", "&amp;").Replace("<", "&lt;").Replace(">", "&gt;"));
        }

        return paragraphs;
    }

    // XML has no control characters.
    private static string Printable(string line) => string.Concat(line.Select(c => char.IsControl(c) ? ' ' : c)).Trim();
}
