namespace FastPort.Dashboard.Live;

/// <summary>Formats texts of peers and logs for the page.</summary>
internal static class ShownText
{
    /// <summary>Cuts a text, and replaces what is not visible. The page itself sets texts, never markup.</summary>
    public static string Of(string text, int maxCharacters)
    {
        bool isLong = text.Length > maxCharacters;
        return string.Create(isLong ? maxCharacters : text.Length, text, (shown, from) =>
        {
            for (int i = 0; i < shown.Length; i++)
            {
                // Control characters, and characters that change the direction of text.
                shown[i] = char.IsControl(from[i]) || from[i] is >= '\u202A' and <= '\u202E' or >= '\u2066' and <= '\u2069'
                    || char.IsSurrogate(from[i])
                    ? ' ' : from[i];
            }

            if (isLong)
            {
                shown[^1] = '\u2026';
            }
        });
    }
}
