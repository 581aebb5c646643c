using System.Globalization;
using System.Text;

namespace FastPort.Sessions.Logging;

/// <summary>
/// Text that a peer chose, made fit for a log line: cut, and without characters that break lines, hide text or steer terminals. Those are
/// the Unicode categories
/// Cc (controls), Cf (format characters), Zl and Zp (separators of lines and paragraphs).
/// </summary>
internal static class PeerText
{
    /// <summary>UTF-16 units that are shown at most, before they are escaped.</summary>
    public const int MaxLength = 256;

    /// <summary>Whether a text has none of those characters; names that have one are refused.</summary>
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
    /// The text as it may stand in a log line. Those characters are escaped as in C#, and a backslash is doubled; what was cut off ends in
    /// three dots.
    /// </summary>
    public static string Escape(string text)
    {
        if (text.Length <= MaxLength && IsPlain(text) && !text.Contains('\\', StringComparison.Ordinal))
        {
            return text;
        }

        var escaped = new StringBuilder();
        int end = Math.Min(text.Length, MaxLength);
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
