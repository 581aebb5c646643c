using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace FastPort.Client.Reports;

/// <summary>Texts from elsewhere, for a terminal: they must not control it.</summary>
internal static partial class SafeText
{
    private const int LongestName = 200;
    private const int LongestMessage = 2000;

    /// <summary>A name or value: control, format and separator characters are escaped, and a long one is cut.</summary>
    public static string Of(string text) => Escape(text, LongestName);

    /// <summary>A name, whole, in a form that <see cref="NameFrom"/> reads.</summary>
    public static string Name(string name) => Escape(name.Replace("\\u", "\\u005Cu", StringComparison.Ordinal), int.MaxValue);

    /// <summary>A typed name, with <c>\u000A</c> and the like for characters that cannot be typed.</summary>
    public static string NameFrom(string typed) => Escaped().Replace(
        typed, static match => $"{(char)int.Parse(match.ValueSpan[2..], NumberStyles.HexNumber, CultureInfo.InvariantCulture)}");

    /// <summary>A sentence that may contain such texts; longer than a name may be.</summary>
    public static string Message(string text) => Escape(text, LongestMessage);

    private static string Escape(string text, int longest)
    {
        var safe = new StringBuilder();
        ReadOnlySpan<char> rest = text.Length <= longest ? text : string.Concat(text.AsSpan(0, longest), "...");
        while (!rest.IsEmpty)
        {
            // Half of a surrogate pair is not a character.
            bool isSafe = Rune.DecodeFromUtf16(rest, out Rune rune, out int length) == OperationStatus.Done
                && Rune.GetUnicodeCategory(rune) is not (UnicodeCategory.Control or UnicodeCategory.Format
                    or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator or UnicodeCategory.Surrogate);
            foreach (char c in rest[..length])
            {
                safe.Append(isSafe ? $"{c}" : $"\\u{(int)c:X4}");
            }

            rest = rest[length..];
        }

        return safe.ToString();
    }

    [GeneratedRegex(@"\\u[0-9A-Fa-f]{4}", RegexOptions.CultureInvariant)]
    private static partial Regex Escaped();
}
