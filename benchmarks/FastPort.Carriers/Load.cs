using System.Globalization;

namespace FastPort.Carriers;

/// <summary>Messages in flight, or begun each second whatever is acknowledged; the other is 0.</summary>
internal readonly record struct Load(int InFlight, int PerSecond)
{
    private const string Second = "/s";

    /// <summary>Reads "256" or "20000/s".</summary>
    public static Load Parse(string text) => text.EndsWith(Second, StringComparison.Ordinal)
        ? new(0, int.Parse(text.AsSpan(0, text.Length - Second.Length), CultureInfo.InvariantCulture))
        : new(int.Parse(text, CultureInfo.InvariantCulture), 0);
}
