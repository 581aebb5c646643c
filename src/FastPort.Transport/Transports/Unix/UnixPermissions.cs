namespace FastPort.Transports.Unix;

/// <summary>File permissions as operators write them: octal, <c>0660</c>.</summary>
internal static class UnixPermissions
{
    /// <summary>Reads one to four octal digits up to 0777.</summary>
    public static bool TryParse(string text, out UnixFileMode mode)
    {
        mode = UnixFileMode.None;
        if (text.Length is 0 or > 4 || text.AsSpan().ContainsAnyExceptInRange('0', '7'))
        {
            return false;
        }

        int value = Convert.ToInt32(text, 8);
        mode = (UnixFileMode)value;
        return value <= 0b111_111_111;
    }
}
