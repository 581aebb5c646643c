using System.Globalization;
using System.Text;

namespace FastPort.Logging;

/// <summary>
/// Makes text chosen by a peer safe for a log line: truncated, and without characters that break lines, hide text or control terminals.
/// Those are the Unicode categories Cc (controls), Cf (format characters), Zl and Zp (line and paragraph separators).
/// </summary>
internal static class PeerText
{
    /// <summary>Ordinary maximum length in UTF-16 code units, before escaping.</summary>
    public const int MaxLength = 256;

    /// <summary>Whether a text contains none of those characters. Names that contain one are refused.</summary>
    public static bool IsPlain(string text)
    {
        foreach (Rune rune in text.EnumerateRunes())
        {
            if (!IsPlain(rune))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>
    /// The text for a log line. Those characters are escaped as in C#, a backslash is doubled, and truncated text ends in three dots.
    /// </summary>
    public static string Escape(string text, int maxLength = MaxLength)
    {
        if (text.Length <= maxLength && IsPlain(text) && !text.Contains('\\', StringComparison.Ordinal))
        {
            return text;
        }

        var escaped = new StringBuilder();
        int end = Math.Min(text.Length, maxLength);
        foreach (Rune rune in text.AsSpan(0, end).EnumerateRunes())
        {
            if (rune.Value == '\\')
            {
                escaped.Append(@"\\");
            }
            else if (IsPlain(rune))
            {
                escaped.Append(rune.ToString());
            }
            else if (rune.IsBmp)
            {
                escaped.Append(CultureInfo.InvariantCulture, $@"\u{rune.Value:X4}");
            }
            else
            {
                escaped.Append(CultureInfo.InvariantCulture, $@"\U{rune.Value:X8}");
            }
        }

        return escaped.Append(end < text.Length ? "..." : string.Empty).ToString();
    }

    private static bool IsPlain(Rune rune) => Rune.GetUnicodeCategory(rune)
        is not (UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
