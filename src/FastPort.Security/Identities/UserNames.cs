using System.Globalization;
using System.Text;

namespace FastPort.Security.Identities;

/// <summary>The rules for a user name that a peer sends: those of routing ids and of the user file.</summary>
internal static class UserNames
{
    /// <summary>Maximum length in UTF-16 code units, that of a routing id.</summary>
    public const int MaxLength = 256;

    /// <summary>The rules, as the end of a sentence.</summary>
    public const string Rules = "at most 256 characters are allowed, none of category Cc, Cf, Zl or Zp, and no space around them";

    /// <summary>Whether a name keeps to the rules.</summary>
    public static bool IsAllowed(string name) =>
        name.Length is > 0 and <= MaxLength && name.AsSpan().Trim().Length == name.Length && !name.EnumerateRunes().Any(IsHidden);

    // Would break a line of a log, or make two names look the same.
    private static bool IsHidden(Rune rune) => Rune.GetUnicodeCategory(rune)
        is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator;
}
