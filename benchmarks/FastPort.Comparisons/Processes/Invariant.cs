using System.Globalization;

namespace FastPort.Comparisons.Processes;

/// <summary>Values as command-line arguments, whatever the user's language.</summary>
internal static class Invariant
{
    public static string Text(IFormattable value) => value.ToString(null, CultureInfo.InvariantCulture);
}
