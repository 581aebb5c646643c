using System.Globalization;
using System.Text;

namespace FastPort.Client.Reports;

/// <summary>Texts that somebody else chose, for a terminal: they must not control it.</summary>
internal static class SafeText
{
    private const int LongestName = 200;
    private const int LongestMessage = 2000;

    /// <summary>A name or value: control, format and separator characters are escaped, and a long one is cut.</summary>
    public static string Of(string text) => Escape(text, LongestName);

    /// <summary>A sentence that may contain such texts; longer than a name may be.</summary>
    public static string Message(string text) => Escape(text, LongestMessage);

    private static string Escape(string text, int longest)
    {
        var safe = new StringBuilder();
        foreach (char c in text.Length <= longest ? text : string.Concat(text.AsSpan(0, longest), "..."))
        {
            bool isSafe = CharUnicodeInfo.GetUnicodeCategory(c) is not (UnicodeCategory.Control or UnicodeCategory.Format
                or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator or UnicodeCategory.Surrogate);
            safe.Append(isSafe ? $"{c}" : $"\\u{(int)c:X4}");
        }

        return safe.ToString();
    }
}
